import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formerSuffix } from './former-server.js';
import { isBoundThere } from './read-former-answer.js';

const serverTime = { timestamp: 1_790_000_000_000, timeZone: 'Asia/Shanghai', timezone_offset: 480 };
const websocket = { url: 'ws://old.example:8000/xiaozhi/v1/', token: 'secret' };
const activation = { code: '123456', message: 'http://old.example\n123456', challenge: '02:00:00:00:00:01' };

function read(body: unknown, status = 200): boolean | undefined {
  return isBoundThere({ status, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) });
}

describe('whether a board is bound at its former server', () => {
  it.each([
    ['settings without an activation', { server_time: serverTime, websocket }, true],
    ['settings of MQTT', { server_time: serverTime, mqtt: { endpoint: 'old.example' } }, true],
    ['an activation', { server_time: serverTime, websocket, activation }, false],
    ['only a challenge', { server_time: serverTime, activation: { challenge: 'x' } }, false],
    ['an empty activation', { server_time: serverTime, websocket, activation: {} }, undefined],
    ['no settings', { server_time: serverTime }, undefined],
    ['no time', { websocket }, undefined],
    ['an error of the manager', { code: 500, msg: 'x' }, undefined],
    ['an error with settings', { server_time: serverTime, websocket, error: 'x' }, undefined],
    ['a text', 'OTA接口运行正常', undefined],
    ['an array', [serverTime], undefined],
  ])('follows from %s', (_name, body, expected) => {
    expect(read(body)).toBe(expected);
  });

  it('does not follow from another status, nor from any other text', () => {
    expect(read({ server_time: serverTime, websocket }, 201)).toBeUndefined();
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => read(text) === undefined));
  });
});

describe('the path at the former server', () => {
  it.each([
    ['/ota', ''],
    ['/ota/', '/'],
    ['/ota/?v=1', '/?v=1'],
    ['/ota/?v=1/activate', '/?v=1/activate'],
    ['/ota/activate', '/activate'],
    ['/ota/some-link/', undefined],
    ['/ota/../user/login', undefined],
    ['/other', undefined],
  ])('of %s is %s', (url, suffix) => {
    expect(formerSuffix(url)).toBe(suffix);
  });
});
