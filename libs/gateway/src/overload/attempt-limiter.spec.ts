import { describe, expect, it } from 'vitest';
import { AttemptLimiter } from './attempt-limiter.js';

const limits = { burst: 3, perSecond: 1, addressesMax: 2 };

describe('AttemptLimiter', () => {
  it('allows a burst from each address, and then what the rate gives back', () => {
    const limiter = new AttemptLimiter(limits);
    expect([0, 0, 0, 0].map((now) => limiter.take('192.0.2.1', now))).toEqual([true, true, true, false]);
    expect(limiter.take('192.0.2.2', 0)).toBe(true);
    expect(limiter.take('192.0.2.1', 999)).toBe(false);
    expect(limiter.take('192.0.2.1', 2_000)).toBe(true);
  });

  it('takes a /64 of IPv6 for one address', () => {
    const limiter = new AttemptLimiter(limits);
    const addresses = ['2001:db8:1:2::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::3', '2001:db8:1:2:ffff::'];
    expect(addresses.map((address) => limiter.take(address, 0))).toEqual([true, true, true, false]);
    expect(limiter.take('2001:db8:1:3::1', 0)).toBe(true);
    expect(limiter.take('2001:db8::1', 0)).toBe(true);
  });

  it('forgets the least recently used address', () => {
    const limiter = new AttemptLimiter(limits);
    for (const address of ['a', 'a', 'a', 'b', 'c']) limiter.take(address, 0);
    expect(limiter.take('a', 0)).toBe(true);
  });

  it('counts no attempt that was given back', () => {
    const limiter = new AttemptLimiter(limits);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(limiter.take('a', 0)).toBe(true);
      limiter.giveBack('a');
    }
    limiter.giveBack('a');
    expect([0, 0, 0, 0].map((now) => limiter.take('a', now))).toEqual([true, true, true, false]);
  });

  it('is not confused by a clock that goes backwards', () => {
    const limiter = new AttemptLimiter(limits);
    expect([9_000, 8_000, 7_000, 6_000].map((now) => limiter.take('a', now))).toEqual([true, true, true, false]);
  });
});
