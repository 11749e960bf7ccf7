import { describe, expect, it } from 'vitest';
import { lockedUntil, subjectsOf } from './lock-out.js';
import { defaultSignInLimits } from './sign-in-limits.js';

const limits = { ...defaultSignInLimits, failuresMax: 5, addressFailuresMax: 20, lockMs: 30_000, lockMsMax: 900_000 };
const from = (remoteAddress: string) => subjectsOf({ email: 'a@b', remoteAddress, knownBrowser: undefined }).shared;

describe('failures to sign in', () => {
  it.each([
    [4, undefined],
    [5, 30_000],
    [6, 60_000],
    [9, 480_000],
    [10, 900_000],
    [2_000, 900_000],
  ])('after %i make the next attempt wait %s ms', (failures, waitMs) => {
    expect(lockedUntil('account:a@b', { failures, lastAt: 1_000 }, limits)).toBe(
      waitMs === undefined ? undefined : 1_000 + waitMs,
    );
  });

  it('have a higher limit per address than per account', () => {
    expect(lockedUntil('address:192.0.2.1', { failures: 19, lastAt: 0 }, limits)).toBeUndefined();
    expect(lockedUntil('address:192.0.2.1', { failures: 20, lastAt: 0 }, limits)).toBe(30_000);
  });

  it('count for account and address of an unknown browser, and only for a known browser itself', () => {
    const attempt = { email: 'a@b', remoteAddress: '192.0.2.1' };
    expect(subjectsOf({ ...attempt, knownBrowser: undefined })).toEqual({
      own: 'account:a@b',
      shared: ['address:192.0.2.1'],
    });
    expect(subjectsOf({ ...attempt, knownBrowser: 'b1' })).toEqual({ own: 'browser:b1', shared: [] });
  });

  it('count for the IPv6 network, and for an IPv4 address in any notation', () => {
    expect(from('2001:db8:1:2::1')).toEqual(from('2001:db8:1:2:ffff::9'));
    expect(from('2001:db8:1:2::1')).not.toEqual(from('2001:db8:1:3::1'));
    expect(from('::ffff:192.0.2.1')).toEqual(['address:192.0.2.1']);
  });
});
