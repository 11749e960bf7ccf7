import { describe, expect, it } from 'vitest';
import { RenewedCounts } from './renewed-counts.js';

/** Counts `state.devices`, each time in `tookMs`, unless it is held up. */
function stage(tookMs: number) {
  const state = { now: 0, devices: 1, begun: 0, fails: false, held: Promise.resolve() };
  const counts = new RenewedCounts<number>(() => state.now);
  const count = async (): Promise<number> => {
    state.begun++;
    const { devices } = state;
    await state.held;
    state.now += tookMs;
    if (state.fails) throw new Error('PostgreSQL is away');
    return devices;
  };
  return { state, ask: (key = 'all') => counts.of(key, count) };
}

/** What goes on in the background is over. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('counts that are renewed', () => {
  it('are made once for all who ask at a time, and apart for each key', async () => {
    const { state, ask } = stage(40);
    expect(await Promise.all([ask(), ask(), ask('some')])).toEqual([1, 1, 1]);
    expect(state.begun).toBe(2);
  });

  it('are used for nineteen times what they took, then renewed while the former is still answered', async () => {
    const { state, ask } = stage(40);
    await ask();
    state.devices = 2;
    state.now += 40 * 19 - 1;
    expect(await ask()).toBe(1);
    await settled();
    expect(state.begun).toBe(1);
    state.now += 1;
    let release: () => void = () => undefined;
    state.held = new Promise((resolve) => (release = resolve));
    expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
    release();
    await settled();
    expect(state.begun).toBe(2);
    expect(await ask()).toBe(2);
  });

  it('that are slow are renewed in time, so that frequent callers never wait', async () => {
    const { state, ask } = stage(400);
    await ask();
    state.devices = 2;
    state.now = 2_500;
    expect(await ask()).toBe(1);
    await settled();
    expect(await ask()).toBe(2);
  });

  it.each([
    [2, 200],
    [1_000, 5_000],
  ])('that took %i ms are answered until they are %i ms old', async (tookMs, oldMs) => {
    const { state, ask } = stage(tookMs);
    await ask();
    state.devices = 2;
    state.now = oldMs - 1;
    expect(await ask()).toBe(1);
    await settled();
    const other = stage(tookMs);
    await other.ask();
    other.state.devices = 2;
    other.state.now = oldMs;
    expect(await other.ask()).toBe(2);
  });

  it('that fail reject for all waiting callers, and are made again', async () => {
    const { state, ask } = stage(10);
    state.fails = true;
    await expect(ask()).rejects.toThrow('away');
    state.fails = false;
    expect(await ask()).toBe(1);
    state.now += 400;
    state.fails = true;
    expect(await ask()).toBe(1);
    await settled();
    await expect(ask()).rejects.toThrow('away');
  });
});
