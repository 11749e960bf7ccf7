import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMcpEnvelope, parseDeviceEnvelope } from './device-envelope.js';

describe('parseDeviceEnvelope', () => {
  it('unwraps MCP for any session id', () => {
    expect(parseDeviceEnvelope('{"session_id":"","type":"mcp","payload":{"a":1}}')).toEqual({
      kind: 'mcp',
      payload: { a: 1 },
    });
    expect(parseDeviceEnvelope('{"type":"mcp","payload":{}}')).toEqual({ kind: 'mcp', payload: {} });
  });

  it('distinguishes a hello from other messages', () => {
    expect(parseDeviceEnvelope('{"type":"hello","version":1}')).toMatchObject({
      kind: 'hello',
      message: { version: 1 },
    });
    expect(parseDeviceEnvelope('{"type":"listen","state":"stop"}')).toMatchObject({
      kind: 'other',
      type: 'listen',
      message: { state: 'stop' },
    });
  });

  it.each([
    '[]',
    '"x"',
    '{}',
    '{"type":5}',
    '{"type":"mcp"}',
    '{"type":"mcp","payload":[]}',
    '{"type":"mcp","payload":null}',
  ])('reports that %s is not an envelope', (text) => {
    expect(parseDeviceEnvelope(text).kind).toBe('invalid');
  });

  it('reads the request id from an answer that an unescaped error text broke', () => {
    const broken =
      '{"session_id":"s-1","type":"mcp","payload":{"jsonrpc":"2.0","id":42,' +
      '"error":{"message":"Failed to open URL: a"b"}}}';
    expect(parseDeviceEnvelope(broken)).toEqual({ kind: 'unparseable', replyId: 42 });
    expect(parseDeviceEnvelope('{"type":"mcp","payload":{"jsonrpc":"2.0","id":7,"result":{"content":[{"te')).toEqual({
      kind: 'unparseable',
      replyId: 7,
    });
  });

  it('reads no id from text that a person could have written', () => {
    expect(parseDeviceEnvelope('{"session_id":"","type":"listen","text":""id":7,"}')).toEqual({
      kind: 'unparseable',
      replyId: undefined,
    });
    expect(parseDeviceEnvelope('no json, "id":7,')).toEqual({ kind: 'unparseable', replyId: undefined });
  });

  it('accepts any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseDeviceEnvelope(text).kind).toBeTypeOf('string');
      }),
    );
  });

  it('unwraps what it wraps, for any session id and payload', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string(), { nil: undefined }),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.integer()),
        (sessionId, payload) => {
          expect(parseDeviceEnvelope(encodeMcpEnvelope(sessionId, JSON.stringify(payload)))).toEqual({
            kind: 'mcp',
            payload,
          });
        },
      ),
    );
  });
});

it('repeats a session id only if there is one', () => {
  expect(encodeMcpEnvelope(undefined, '{}')).toBe('{"type":"mcp","payload":{}}');
  expect(encodeMcpEnvelope('s-1', '{}')).toBe('{"session_id":"s-1","type":"mcp","payload":{}}');
});
