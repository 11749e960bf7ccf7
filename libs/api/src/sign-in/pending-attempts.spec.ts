import { describe, expect, it } from 'vitest';
import { addAttempt, takeAttempt, type Attempt } from './pending-attempts.js';

const attempt = (sign: string): Attempt => ({
  state: `s${sign.repeat(42)}`,
  nonce: `n${sign.repeat(42)}`,
  verifier: `v${sign.repeat(42)}`,
});

describe('the attempts of a browser', () => {
  it('are taken by their state, in any order', () => {
    const cookie = [attempt('1'), attempt('2')].reduce<string | undefined>(addAttempt, undefined);
    const second = takeAttempt(cookie, attempt('2').state);
    expect(second.attempt).toEqual(attempt('2'));
    expect(takeAttempt(second.rest, attempt('2').state).attempt).toBeUndefined();
    expect(takeAttempt(second.rest, attempt('1').state)).toEqual({ attempt: attempt('1'), rest: '' });
  });

  it('are the latest three, which fit into a cookie', () => {
    const cookie = ['1', '2', '3', '4'].map(attempt).reduce<string | undefined>(addAttempt, undefined);
    expect(takeAttempt(cookie, attempt('1').state).attempt).toBeUndefined();
    for (const sign of ['2', '3', '4']) expect(takeAttempt(cookie, attempt(sign).state).attempt).toEqual(attempt(sign));
    expect(cookie?.length).toBeLessThanOrEqual(400);
  });

  it.each([undefined, '', 'x', 'a.b', '...', 'a..c'])('do not exist in the cookie %j', (cookie) => {
    expect(takeAttempt(cookie, 'a')).toEqual({ attempt: undefined, rest: '' });
    expect(takeAttempt(cookie, null)).toEqual({ attempt: undefined, rest: '' });
  });
});
