import { describe, expect, it } from 'vitest';
import { parseJsonText } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import { sortServerMessage } from './relayed-message.js';

const sort = (text: string, maySendSystem = false) =>
  sortServerMessage(parseJsonText(text) as JsonObject, { maySendSystem });

describe('a message of a voice server', () => {
  it.each([
    ['{"type":"tts","state":"sentence_start","text":"好"}', { kind: 'relayed', type: 'tts' }],
    ['{"type":"llm","emotion":"happy","text":"😊"}', { kind: 'relayed', type: 'llm' }],
    ['{"type":"mcp","payload":{"id":"a"}}', { kind: 'mcp', payload: { id: 'a' } }],
    ['{"type":"hello","transport":"websocket"}', { kind: 'hello' }],
    ['{"type":"goodbye","session_id":"x"}', { kind: 'goodbye' }],
  ])('is sorted by its type: %s', (text, sorted) => {
    expect(sort(text)).toEqual(sorted);
  });

  it.each([
    ['no type', '{"Type":"mcp","payload":{}}'],
    ['a type twice, for a reader who takes the first', '{"TYPE":"mcp","payload":{"method":"tools/call"},"type":"tts"}'],
    ['a member twice deeper down', '{"type":"tts","glyph_push":{"v":1,"V":2}}'],
    ['a reboot', '{"type":"system","command":"reboot"}'],
    ['a type that is no text', '{"type":7}'],
  ])('is refused where the device might read something else: %s', (_, text) => {
    expect(sort(text)).toMatchObject({ kind: 'refused' });
  });

  it('may reboot the device where voice servers may do that', () => {
    expect(sort('{"type":"system","command":"reboot"}', true)).toEqual({ kind: 'relayed', type: 'system' });
  });
});
