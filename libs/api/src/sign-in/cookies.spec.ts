import { describe, expect, it } from 'vitest';
import { cookieText, expiredCookie, readCookie } from './cookies.js';

describe('cookies', () => {
  it('are bound to the host, and to HTTPS if browsers use it', () => {
    expect(cookieText('flotilla-session', 'abc', { isSecure: true, maxAgeSeconds: 60 })).toBe(
      '__Host-flotilla-session=abc; Max-Age=60; Path=/; HttpOnly; SameSite=Strict; Secure',
    );
    expect(expiredCookie('flotilla-session', false)).toBe(
      'flotilla-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    );
  });

  it('are found among others by their whole name', () => {
    const cookie = 'a=1; xflotilla-session=no; flotilla-session=yes; flotilla-session-2=no';
    expect(readCookie({ cookie }, 'flotilla-session', false)).toBe('yes');
    // Over HTTPS one that anybody may have set does not count.
    expect(readCookie({ cookie }, 'flotilla-session', true)).toBeUndefined();
    expect(readCookie({ cookie: `flotilla-session=${'x'.repeat(401)}` }, 'flotilla-session', false)).toBeUndefined();
    expect(readCookie({}, 'flotilla-session', false)).toBeUndefined();
  });
});
