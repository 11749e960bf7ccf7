import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { SilentSocket } from './silent-socket.js';

function open(idleMs: number) {
  const clock = new ManualClock(1_000);
  const heard: unknown[] = [];
  const state = { pending: 0, isClosed: false };
  const socket = new SilentSocket({
    clock,
    idleMs,
    say: (message) => heard.push(message),
    pendingCalls: () => state.pending,
    close: () => {
      state.isClosed = true;
    },
  });
  return { clock, heard, state, socket };
}

describe('a WebSocket conversation without a voice service', () => {
  it('is explained, and ends when nothing was asked for a while', () => {
    const { clock, heard, state, socket } = open(8_000);
    socket.begin();
    expect(heard).toMatchObject([{ type: 'alert', status: 'No voice service' }]);
    clock.advance(7_999);
    expect(state.isClosed).toBe(false);
    clock.advance(1);
    expect(state.isClosed).toBe(true);
  });

  it('goes on while calls come or run', () => {
    const { clock, state, socket } = open(8_000);
    socket.begin();
    clock.advance(7_000);
    socket.used();
    clock.advance(7_000);
    expect(state.isClosed).toBe(false);
    state.pending = 1;
    clock.advance(60_000);
    expect(state.isClosed).toBe(false);
    state.pending = 0;
    clock.advance(8_000);
    expect(state.isClosed).toBe(true);
  });

  it('is left to the device if the idle time is 0, and leaves no timer behind', () => {
    const left = open(0);
    left.socket.begin();
    expect(left.clock.timers).toBe(0);
    expect(left.heard).toEqual([]);
    const ended = open(8_000);
    ended.socket.begin();
    ended.socket.end();
    expect(ended.clock.timers).toBe(0);
  });
});
