/** Numbers on the command line: what is accepted, and what the error says. */
import { describe, expect, it } from 'vitest';
import { numberOf } from './number-option.js';

const bounds = { min: 1, max: 300 };

describe('a number option', () => {
  it('accepts whole numbers within its bounds', () => {
    expect([numberOf('timeout', '1', bounds), numberOf('timeout', '300', bounds)]).toEqual([1, 300]);
  });

  it('accepts fractions only if the option allows them', () => {
    expect(numberOf('timeout', '1.5', { ...bounds, isFraction: true })).toBe(1.5);
    expect(() => numberOf('timeout', '1.5', bounds)).toThrow(
      '--timeout must be a whole number from 1 to 300, not "1.5".',
    );
  });

  it.each(['0', '301', '', ' ', 'ten', 'NaN', 'Infinity'])('rejects %j', (typed) => {
    expect(() => numberOf('timeout', typed, bounds)).toThrow('--timeout must be');
  });

  it('rejects an option that is given twice', () => {
    expect(() => numberOf('limit', ['1', '2'], bounds)).toThrow('--limit is given more than once. Give it once.');
  });
});
