import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeNotification, encodeRequest, parseRpcMessage } from './json-rpc.js';

const answer = (members: object) => parseRpcMessage({ jsonrpc: '2.0', ...members });

describe('parseRpcMessage', () => {
  it('distinguishes results, errors, requests and notifications', () => {
    expect(answer({ id: 7, result: null })).toEqual({ kind: 'result', id: 7, result: null });
    expect(answer({ id: 7, error: { code: -5, message: 'no' } })).toEqual({
      kind: 'error',
      id: 7,
      error: { code: -5, isCodeGiven: true, message: 'no' },
    });
    expect(answer({ id: 7, method: 'ping' })).toEqual({ kind: 'request', id: 7, method: 'ping', params: undefined });
    expect(answer({ method: 'notifications/x', params: { a: 1 } })).toEqual({
      kind: 'notification',
      method: 'notifications/x',
      params: { a: 1 },
    });
  });

  it.each([
    ['Unknown tool: self.nope', -32602],
    ['Missing valid argument: volume', -32602],
    ['Invalid arguments', -32602],
    ['Value exceeds maximum allowed: 100', -32602],
    ['Method not implemented: ping', -32601],
    ['Failed to capture photo', -32000],
  ])('assigns to the error "%s", which has no code, the code %i', (message, code) => {
    expect(answer({ id: 1, error: { message } })).toMatchObject({ error: { code, isCodeGiven: false } });
  });

  it('takes a code of more than 32 bits for none', () => {
    const error = { code: 1e12, message: 'Invalid arguments' };
    expect(answer({ id: 1, error })).toMatchObject({ error: { code: -32602, isCodeGiven: false } });
  });

  it('distinguishes an id of 0 from an absent id', () => {
    expect(answer({ id: 0, method: 'x' })).toMatchObject({ kind: 'request', id: 0 });
    expect(answer({ method: 'x' })).toMatchObject({ kind: 'notification' });
    expect(answer({ id: 0, result: 1 })).toMatchObject({ kind: 'result', id: 0 });
    expect(answer({ result: 1 })).toMatchObject({ kind: 'invalid', id: undefined });
  });

  it('ignores a null in the member of an answer that does not apply, as JSON-RPC 1.0 has it', () => {
    expect(answer({ id: 9, result: { a: 1 }, error: null })).toEqual({ kind: 'result', id: 9, result: { a: 1 } });
    expect(answer({ id: 9, result: null, error: { message: 'no' } })).toMatchObject({
      kind: 'error',
      error: { message: 'no' },
    });
  });

  it.each([
    { id: 9 },
    { id: 9, result: null, error: null },
    { id: 9, error: null },
    { id: 9, result: 1, error: { message: 'x' } },
    { id: 9, error: 'x' },
    { id: 9, method: 1 },
    { id: 9, method: 'm', result: 1 },
  ])('reports the id of the invalid answer %j', (members) => {
    expect(answer(members)).toMatchObject({ kind: 'invalid', id: 9 });
  });

  it.each(['7', 1.5, 2 ** 31, null, true])('accepts only 32-bit integers as ids: %j', (id) => {
    expect(answer({ id, result: 1 })).toMatchObject({ kind: 'invalid', id: undefined });
    expect(answer({ id, method: 'm' })).toMatchObject({ kind: 'invalid', id: undefined });
  });

  it('rejects batches and other versions', () => {
    expect(parseRpcMessage([{ jsonrpc: '2.0', id: 1, result: 1 }])).toMatchObject({ kind: 'invalid', id: undefined });
    expect(parseRpcMessage({ jsonrpc: '1.0', id: 1, result: 1 })).toMatchObject({ kind: 'invalid', id: 1 });
  });

  it('parses every request that it encodes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 31 - 1 }),
        fc.string(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (id, method, params) => {
          const parsed = parseRpcMessage(JSON.parse(encodeRequest(id, method, params)));
          expect(parsed).toEqual({ kind: 'request', id, method, params: JSON.parse(JSON.stringify(params)) });
        },
      ),
    );
  });

  it('classifies any JSON value without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (payload) => {
        expect(['result', 'error', 'request', 'notification', 'invalid']).toContain(parseRpcMessage(payload).kind);
      }),
    );
  });
});

it('encodes a notification without id and params', () => {
  expect(JSON.parse(encodeNotification('notifications/initialized'))).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/initialized',
  });
});
