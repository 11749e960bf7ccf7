import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchPongs } from './watch-pongs.js';

let terminated = 0;
beforeEach(() => {
  terminated = 0;
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

const watch = () => watchPongs(10_000, () => (terminated += 1));

it('ends a connection whose hub does not answer a ping in time', () => {
  const { ping } = watch();
  ping(false);
  vi.advanceTimersByTime(9_999);
  expect(terminated).toBe(0);
  vi.advanceTimersByTime(1);
  expect(terminated).toBe(1);
});

it('leaves a connection whose hub answers, one that only the hub pings, and one that is closed', () => {
  const { ping, pong, closed } = watch();
  ping(false);
  pong(true);
  vi.advanceTimersByTime(10_000);
  ping(true);
  vi.advanceTimersByTime(10_000);
  ping(false);
  closed();
  vi.advanceTimersByTime(10_000);
  expect(terminated).toBe(0);
});

it('takes its own answer to a ping of the hub for no sign of life', () => {
  const { ping, pong } = watch();
  ping(false);
  pong(false);
  vi.advanceTimersByTime(10_000);
  expect(terminated).toBe(1);
});

it('waits on while other messages come before the pong, and ends the connection after them', () => {
  const { ping, message } = watch();
  ping(false);
  for (let count = 0; count < 3; count++) {
    vi.advanceTimersByTime(9_999);
    message();
  }
  vi.advanceTimersByTime(9_999);
  expect(terminated).toBe(0);
  vi.advanceTimersByTime(1);
  expect(terminated).toBe(1);
});

it('waits for nothing where a message comes without a ping, or after the pong', () => {
  const { ping, pong, message } = watch();
  message();
  vi.advanceTimersByTime(10_000);
  ping(false);
  pong(true);
  message();
  vi.advanceTimersByTime(10_000);
  expect(terminated).toBe(0);
});
