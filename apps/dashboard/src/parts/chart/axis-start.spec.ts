import { describe, expect, it } from 'vitest';
import { axisStart } from './axis-start';

describe('the axis of values', () => {
  it.each([
    ['counts', 0, 4, 0],
    ['a battery that is half used', 50, 100, 0],
    ['temperatures that vary little', 48, 55, null],
    ['one value', 100, 100, null],
    ['values below zero', -20, 5, null],
    ['only zeros', 0, 0, 0],
  ])('of %s from %d to %d starts at %o', (_what, min, max, start) => {
    expect(axisStart({ min, max })).toBe(start);
  });
});
