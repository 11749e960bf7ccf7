import { describe, expect, it } from 'vitest';
import { contentItemsMax, isSendableName, parseToolResult } from './tools-call.js';

const content = (...items: unknown[]) => parseToolResult({ content: items, isError: false })?.content;

describe('parseToolResult', () => {
  it('keeps text and isError', () => {
    expect(parseToolResult({ content: [{ type: 'text', text: 'true' }], isError: false })).toEqual({
      content: [{ type: 'text', text: 'true' }],
      isError: false,
    });
    expect(parseToolResult({ content: [], isError: true })).toEqual({ content: [], isError: true });
  });

  it('unpacks an image that the firmware encoded as JSON text', () => {
    expect(content({ type: 'image', image: '{"type":"image","mimeType":"image/jpeg","data":"QUJD"}' })).toEqual([
      { type: 'image', mimeType: 'image/jpeg', data: 'QUJD' },
    ]);
    expect(content({ type: 'image', mimeType: 'image/png', data: 'QUJD' })).toEqual([
      { type: 'image', mimeType: 'image/png', data: 'QUJD' },
    ]);
  });

  it('returns content that it cannot unpack as text', () => {
    expect(content({ type: 'image', image: 'no json' }, 'plain', 5, { type: 'text', text: { a: 1 } })).toEqual([
      { type: 'text', text: 'no json' },
      { type: 'text', text: 'plain' },
      { type: 'text', text: '5' },
      { type: 'text', text: '{"a":1}' },
    ]);
  });

  it('keeps other kinds of content unchanged', () => {
    expect(content({ type: 'resource_link', uri: 'x:1' })).toEqual([{ type: 'resource_link', uri: 'x:1' }]);
  });

  it('converts a result without content to one text', () => {
    expect(parseToolResult(true)).toEqual({ content: [{ type: 'text', text: 'true' }], isError: false });
    expect(parseToolResult({ power: true })).toEqual({
      content: [{ type: 'text', text: '{"power":true}' }],
      isError: false,
    });
    expect(parseToolResult('on')).toEqual({ content: [{ type: 'text', text: 'on' }], isError: false });
  });

  it('returns undefined if the answer is empty', () => {
    expect(parseToolResult(null)).toBeUndefined();
    expect(parseToolResult(undefined)).toBeUndefined();
  });

  it('keeps a bounded number of items', () => {
    expect(content(...Array<unknown>(contentItemsMax + 5).fill('x'))).toHaveLength(contentItemsMax);
  });
});

it('rejects names that the firmware cannot repeat in an error', () => {
  expect(isSendableName('self.audio_speaker.set_volume')).toBe(true);
  expect(isSendableName('灯.打开')).toBe(true);
  for (const name of ['', 'a"b', 'a\\b', 'a\nb', 'a\0b', '\ud800']) expect(isSendableName(name)).toBe(false);
});
