import { describe, expect, it } from 'vitest';
import { Argon2Passwords } from './argon2-passwords.js';

describe('hashes of passwords', () => {
  const passwords = new Argon2Passwords();

  it('are argon2id, salted, and know their password in any spelling of Unicode', async () => {
    const hash = await passwords.hash('caf\u00e9 au lait, please');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash('caf\u00e9 au lait, please')).not.toBe(hash);
    expect(await passwords.verify(hash, 'cafe\u0301 au lait, please')).toBe(true);
    expect(await passwords.verify(hash, 'cafe au lait, please')).toBe(false);
  });

  it('never match without a hash', async () => {
    expect(await passwords.verify(undefined, 'no account has this password')).toBe(false);
    const hash = await passwords.hash('x'.repeat(201));
    expect(await passwords.verify(hash, 'x'.repeat(201))).toBe(false);
  });

  it('refuse a flood, and continue afterwards', async () => {
    const flood = await Promise.all(Array.from({ length: 60 }, () => passwords.verify(undefined, 'any')));
    expect(flood.filter((answer) => answer === undefined)).toHaveLength(18);
    expect(await passwords.verify(undefined, 'any')).toBe(false);
  });
});
