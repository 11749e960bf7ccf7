import { describe, expect, it } from 'vitest';
import { numberIn, numberWithin, shownNumber } from './typed-number';

describe('a typed number', () => {
  it('is a number from its first digit, and not before', () => {
    expect(['-', '-0', '-0.', '-0.5', '1.50'].map(numberIn)).toEqual([undefined, -0, -0, -0.5, 1.5]);
    expect(['', '.', 7, '7.'].map(numberIn)).toEqual([undefined, undefined, 7, 7]);
  });

  it('is shown as it was typed, so that nothing jumps before its next digit', () => {
    expect(shownNumber({ typed: '0.', value: 0, fallback: undefined })).toBe('0.');
    expect(shownNumber({ typed: '1.50', value: 1.5, fallback: undefined })).toBe('1.50');
    expect(shownNumber({ typed: '-', value: undefined, fallback: undefined })).toBe('-');
  });

  it('may be empty while it is typed, where an empty field stands for something', () => {
    expect(shownNumber({ typed: '', value: 3, fallback: 3 })).toBe('');
  });

  it('gives way to a value that came from elsewhere', () => {
    expect(shownNumber({ typed: '0.', value: 2, fallback: undefined })).toBe(2);
    expect(shownNumber({ typed: '5', value: undefined, fallback: undefined })).toBe('');
  });

  it('is brought within its bounds', () => {
    expect(numberWithin(9, { min: 1, max: 5 })).toBe(5);
    expect(numberWithin(0, { min: 1, max: undefined })).toBe(1);
    expect(numberWithin(3, { min: undefined, max: undefined })).toBe(3);
  });
});
