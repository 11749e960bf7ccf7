import { describe, expect, it } from 'vitest';
import { plainDescription, plainLine, plainText, plainValue } from './untrusted-text.js';

describe('text of devices for agents', () => {
  it('keeps lines and removes invisible characters', () => {
    expect(plainText('one\r\ntwo\u0007\u202Ethree\u200B\u{E0041}')).toBe('one\ntwo three');
    expect(plainText('a\u{E0101}\u{E01EF}\uFE01\u061C\u3164b')).toBe('ab');
    expect(plainText('\u2764\uFE0F \u0645\u06CC\u200C\u062E')).toBe('\u2764\uFE0F \u0645\u06CC\u200C\u062E');
  });

  it('is one line where a line is wanted', () => {
    expect(plainLine(' a\n\n b\t')).toBe('a b');
  });

  it('says where it was cut', () => {
    expect(plainText('xxxx', 3)).toBe('xxx… (cut by the hub at 3 characters)');
    expect(plainDescription('x'.repeat(5_000)).length).toBeLessThan(1_100);
    expect(plainText('xx\u{1F600}', 3)).toMatch(/^xx\uFFFD…/);
  });

  it('is cleaned at every level of a value, names of members too', () => {
    expect(plainValue({ 'a\u0000': ['b\u200B', 1, null] })).toEqual({ 'a ': ['b', 1, null] });
  });
});
