import { describe, expect, it } from 'vitest';
import { compareVersions } from './compare-versions.js';

describe('compareVersions', () => {
  it.each([
    ['2.4.2', '2.4.2', 0],
    ['2.4.10', '2.4.9', 1],
    ['1.9.9', '2.0.0', -1],
    ['2.4.2.1', '2.4.2', 1],
    ['2.4', '2.4.0', -1],
    ['2.4.2-rc1', '2.4.2', 0],
  ])('%s against %s is %i', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign);
    expect(Math.sign(compareVersions(b, a))).toBe(0 - sign);
  });
});
