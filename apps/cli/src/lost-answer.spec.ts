import { FlotillaError } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { captured } from './console/captured-output.suite.js';
import { isAnswerLost, sendOnce } from './lost-answer.js';

/** An error as Node's fetch has it. */
const failedFetch = (details: object) => new TypeError('fetch failed', { cause: Object.assign(new Error(), details) });
const unreachable = (details: object) => new FlotillaError('UNREACHABLE', 'x', { cause: failedFetch(details) });
/** A host with several addresses: Node tries them one after another. */
const unreachableAt = (...attempts: readonly object[]) => {
  const errors = attempts.map((details) => Object.assign(new Error(), details));
  const cause = Object.assign(new AggregateError(errors), { code: 'ETIMEDOUT' });
  return new FlotillaError('UNREACHABLE', 'x', { cause: new TypeError('fetch failed', { cause }) });
};

describe('the answer of the hub', () => {
  it.each([
    [unreachable({ code: 'UND_ERR_SOCKET' })],
    [unreachable({ code: 'ECONNRESET', syscall: 'read' })],
    [unreachable({ code: 'UND_ERR_HEADERS_TIMEOUT' })],
    [unreachableAt({ code: 'ENETUNREACH', syscall: 'connect' }, { code: 'ECONNRESET', syscall: 'read' })],
    [new FlotillaError('TIMEOUT', 'x')],
    [new FlotillaError('UNAVAILABLE', 'x', { status: 502 })],
    [new FlotillaError('UNAVAILABLE', 'x', { status: 504 })],
    [new FlotillaError('BAD_RESPONSE', 'x', { status: 200 })],
  ])('may be lost: %#', (error) => expect(isAnswerLost(error)).toBe(true));

  it.each([
    [unreachable({ code: 'ECONNREFUSED' })],
    [unreachable({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
    [unreachable({ code: 'ENETUNREACH', syscall: 'connect' })],
    [unreachableAt({ code: 'ENETUNREACH', syscall: 'connect' }, { code: 'ETIMEDOUT', syscall: 'connect' })],
    [unreachable({ code: 'UND_ERR_CONNECT_TIMEOUT' })],
    [unreachable({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
    [unreachable({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' })],
    [new FlotillaError('UNAVAILABLE', 'x', { status: 503 })],
    [new FlotillaError('BAD_RESPONSE', 'x', { status: 404 })],
    [new FlotillaError('NOT_FOUND', 'x')],
    [new TypeError('x')],
  ])('is no answer to a request that did nothing: %#', (error) => expect(isAnswerLost(error)).toBe(false));
});

describe('what is done once per key', () => {
  const failing = (error: Error, given?: string) => {
    const keys: string[] = [];
    const send = (key: string) => {
      keys.push(key);
      return Promise.reject(error);
    };
    return captured(async () => {
      await expect(sendOnce(given, send)).rejects.toBe(error);
      return keys[0];
    });
  };

  it('names its key where the answer was lost, so that a repetition does it once', async () => {
    const { result: key, stderr } = await failing(new FlotillaError('TIMEOUT', 'x'));
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    expect(stderr).toContain(`Repeat the command with --idempotency-key ${key}`);
    expect((await failing(new FlotillaError('TIMEOUT', 'x'), 'mine')).stderr).toContain('--idempotency-key mine');
  });

  it('names the times that were sent, so that the repetition asks for the same', async () => {
    const error = new FlotillaError('TIMEOUT', 'x');
    const at = '2026-01-31T22:00:00.000Z';
    const { stderr } = await captured(() =>
      expect(sendOnce('k', () => Promise.reject(error), { 'start-at': at, until: undefined })).rejects.toBe(error),
    );
    expect(stderr).toContain(
      `with --idempotency-key k, and with --start-at ${at} in place of the typed time: it does it once.`,
    );
  });

  it('names none where nothing was done', async () => {
    expect((await failing(new FlotillaError('INVALID', 'x'))).stderr).toBe('');
  });
});
