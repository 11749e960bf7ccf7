import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { KeepAlive } from './keep-alive.js';

function begun() {
  const clock = new ManualClock(3_600_000);
  const state = { isExpired: false };
  const keepAlive = new KeepAlive(clock, () => (state.isExpired = true));
  keepAlive.begin(10);
  return { clock, state, keepAlive };
}

it('expires one and a half keep-alive times after the last packet', () => {
  const { clock, state, keepAlive } = begun();
  clock.advance(14_000);
  keepAlive.heard();
  clock.advance(14_999);
  expect(state.isExpired).toBe(false);
  clock.advance(1);
  expect(state.isExpired).toBe(true);
});

it('expires soon after the clock was set back by an hour', () => {
  const { clock, state } = begun();
  clock.step(-3_600_000);
  clock.advance(30_000);
  expect(state.isExpired).toBe(true);
});

it('does not count the time by which the clock was set forward', () => {
  const { clock, state, keepAlive } = begun();
  clock.advance(14_000);
  keepAlive.heard();
  clock.step(3_600_000);
  clock.advance(14_999);
  expect(state.isExpired).toBe(false);
  clock.advance(1);
  expect(state.isExpired).toBe(true);
});
