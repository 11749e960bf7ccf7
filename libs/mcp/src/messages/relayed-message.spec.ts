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
  ])('is classified by its type: %s', (text, sorted) => {
    expect(sort(text)).toEqual(sorted);
  });

  it.each([
    ['no type', '{"Type":"mcp","payload":{}}'],
    [
      'a duplicate type, of which a reader may take the first',
      '{"TYPE":"mcp","payload":{"method":"tools/call"},"type":"tts"}',
    ],
    ['a duplicate member in a nested object', '{"type":"tts","glyph_push":{"v":1,"V":2}}'],
    ['a reboot', '{"type":"system","command":"reboot"}'],
    ['a type that is not a string', '{"type":7}'],
  ])('is rejected if the device could read it differently: %s', (_, text) => {
    expect(sort(text)).toMatchObject({ kind: 'refused' });
  });

  it('may restart the device if the voice server has this right', () => {
    expect(sort('{"type":"system","command":"reboot"}', true)).toEqual({ kind: 'relayed', type: 'system' });
  });
});
