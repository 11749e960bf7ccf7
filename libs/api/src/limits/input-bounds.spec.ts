import { describe, expect, it } from 'vitest';
import { refuseUnfitInput } from './input-bounds.js';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const refusalOf = (input: unknown): string => {
  try {
    refuseUnfitInput(input);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

describe('an input', () => {
  it('may have any character, in texts and names', () => {
    expect(
      refusalOf({ 'näme 😀': ['\uFFFF', '\u202E\u200F', '😀', '', { tab: '\t\n' }], n: 1, no: null, yes: true }),
    ).toBe('none');
    expect(refusalOf(undefined)).toBe('none');
    expect(refusalOf('x'.repeat(1_000_000))).toBe('none');
  });

  it.each([
    ['NUL', { input: { text: 'a\0b' } }, 'The input at "input.text" contains the character NUL (U+0000)'],
    [
      'a high surrogate',
      { input: { list: [{}, ['\ud83d']] } },
      'The input at "input.list.1.0" contains the lone surrogate U+D83D',
    ],
    ['a low surrogate', { id: '\ude00' }, 'The input at "id" contains the lone surrogate U+DE00'],
    ['a pair in reverse', { id: '\ude00\ud83d' }, 'The input at "id" contains the lone surrogate U+DE00'],
    [
      'a name that is wrong itself',
      { a: { 'b\ud800': 1 } },
      String.raw`The input at "a.b\ud800" contains the lone surrogate U+D800`,
    ],
    ['a text alone', '\0', 'The input contains the character NUL'],
  ])('with %s is refused with its path', (_what, input, message) => {
    expect(refusalOf(input)).toContain(message);
  });

  it('nests at most 40 levels, and deeper input uses no stack', () => {
    expect(refusalOf(nested(41))).toBe('none');
    expect(refusalOf(nested(42))).toContain('at most 40 levels');
    const message = refusalOf({ input: nested(100_000) });
    expect(message).toContain('The input at "input.0.0.0.0.0.0.0.0.0…" nests too deep');
    expect(message.length).toBeLessThan(300);
  });
});
