import { describe, expect, it } from 'vitest';
import { cleanText, jsonDepthMax, parseJsonText, quoteText } from './json-text.js';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('parseJsonText', () => {
  it('returns undefined for text that is not JSON', () => {
    expect(parseJsonText('{"a":')).toBeUndefined();
    expect(parseJsonText('null')).toBeNull();
  });

  it('rejects nesting beyond the limit and accepts nesting up to it', () => {
    expect(parseJsonText(nested(jsonDepthMax))).toBeDefined();
    expect(parseJsonText(nested(jsonDepthMax + 1))).toBeUndefined();
    expect(parseJsonText(nested(30_000))).toBeUndefined();
    expect(parseJsonText(`{"a":"\\u0041","b":${nested(30_000)}}`)).toBeUndefined();
  });

  it('replaces NUL and unpaired surrogates in values and names, and nothing else', () => {
    expect(parseJsonText(String.raw`{"a\u0000":["x\ud800y","\ud83d\ude00","\u00e9"]}`)).toEqual({
      'a\uFFFD': ['x\uFFFDy', '😀', 'é'],
    });
    expect(parseJsonText(String.raw`{"a":"\\u0000"}`)).toEqual({ a: String.raw`\u0000` });
  });

  it('keeps a member named __proto__ as an ordinary member', () => {
    const value = parseJsonText(String.raw`{"__proto__":{"polluted":"\u0041"}}`);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

it('quotes a bounded beginning that never ends in half of a character', () => {
  expect(quoteText('abc', 3)).toBe('abc');
  expect(quoteText('abcd', 3)).toBe('ab…');
  expect(quoteText('😀😀😀', 4)).toBe('😀\uFFFD…');
});

it('cleans raw text', () => {
  expect(cleanText('a\0b\ud800')).toBe('a\uFFFDb\uFFFD');
});
