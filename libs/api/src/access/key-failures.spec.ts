import { describe, expect, it } from 'vitest';
import { KeyFailures } from './key-failures.js';

describe('failed attempts', () => {
  it('of one address are limited per window, and start again after it', () => {
    let now = 1_000;
    const attempts = new KeyFailures({ failuresMax: 2, windowMs: 60_000 }, () => now);
    expect([attempts.count('192.0.2.1'), attempts.count('192.0.2.1')]).toEqual([undefined, undefined]);
    now += 10_000;
    expect(attempts.count('192.0.2.1')).toBe(50_000);
    expect(attempts.count('192.0.2.2')).toBeUndefined();
    now += 50_000;
    expect(attempts.count('192.0.2.1')).toBeUndefined();
  });

  it('of one /64 of IPv6 are of one address', () => {
    const attempts = new KeyFailures({ failuresMax: 1, windowMs: 60_000 });
    expect(attempts.count('2001:db8::1')).toBeUndefined();
    expect(attempts.count('2001:db8::2')).toBeGreaterThan(0);
    expect(attempts.count('2001:db8:0:1::1')).toBeUndefined();
  });

  it('are remembered for a limited number of addresses', () => {
    const attempts = new KeyFailures({ failuresMax: 1, windowMs: 60_000 });
    attempts.count('first');
    for (let index = 0; index < 10_000; index += 1) attempts.count(`address ${index}`);
    expect(attempts.count('first')).toBeUndefined();
  });
});
