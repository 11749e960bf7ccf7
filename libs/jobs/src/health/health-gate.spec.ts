/** The health gate over simulated roll-outs: devices, waves and restarts, without a database. */
import { describe, expect, it } from 'vitest';
import { countedSince, isUnhealthy } from './health-gate.js';
import type { HealthEvidence } from './health-gate.js';

const gate = { observeSeconds: 600, action: 'PAUSE' } as const;
const evidence = (change: Partial<HealthEvidence>): HealthEvidence => ({
  version: '2.0.0',
  restarts: 0,
  deviceHours: 0,
  baselineRestarts: 0,
  baselineDeviceHours: 0,
  loopingDevices: 0,
  ...change,
});

describe('a health gate', () => {
  it('tolerates one restart in any number of hours', () => {
    expect(isUnhealthy(gate, evidence({ restarts: 1, deviceHours: 0.01, baselineDeviceHours: 5_000 }))).toBe(false);
  });

  it('stops at once where three devices loop, without a baseline', () => {
    expect(isUnhealthy(gate, evidence({ restarts: 9, loopingDevices: 2 }))).toBe(false);
    expect(isUnhealthy(gate, evidence({ restarts: 9, loopingDevices: 3 }))).toBe(true);
  });

  it('counts from the start of the job, and after a stop from the time at which it was resumed', () => {
    const tripped = { ...evidence({}), at: 2_000 };
    expect(countedSince({}, 9_000)).toBe(9_000);
    expect(countedSince({ startedAt: 1_000 }, 9_000)).toBe(1_000);
    expect(countedSince({ startedAt: 1_000, trippedHealthGate: tripped }, 9_000)).toBe(2_000);
    const resumed = { ...tripped, resumedAt: 3_000 };
    expect(countedSince({ startedAt: 1_000, trippedHealthGate: resumed }, 9_000)).toBe(3_000);
  });

  it('puts a given bound through the same test', () => {
    const bounded = { ...gate, maxRestartsPer1000Hours: 10 };
    expect(isUnhealthy(bounded, evidence({ restarts: 2, deviceHours: 100 }))).toBe(false);
    expect(isUnhealthy(bounded, evidence({ restarts: 5, deviceHours: 100 }))).toBe(true);
  });
});

const STEP_SECONDS = 10;
/** Cumulative shares of the targets. */
const WAVES = [0.05, 0.25, 1];

/** A reproducible source of chance (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Rollout {
  readonly devices: number;
  /** Unexpected restarts per 1,000 hours. */
  readonly oldRate: number;
  readonly newRate: number;
  readonly seed: number;
}

/** Rolls out wave by wave and looks every ten seconds. Resolves to the wave that was stopped. */
function rollOut({ devices, oldRate, newRate, seed }: Rollout): number | undefined {
  const random = chance(seed);
  const counts = { restarts: 0, deviceHours: 0, baselineRestarts: 0, baselineDeviceHours: 0 };
  const recent = new Map<number, number[]>();
  const hours = STEP_SECONDS / 3_600;
  const happen = (running: number, rate: number) => {
    // Few events per step: the sum of many small chances.
    const mean = (running * hours * rate) / 1_000;
    let [events, product] = [0, random()];
    while (product > Math.exp(-mean)) [events, product] = [events + 1, product * random()];
    return events;
  };
  for (const [wave, share] of WAVES.entries()) {
    const upgraded = Math.ceil(devices * share);
    const before = Math.ceil(devices * (WAVES[wave - 1] ?? 0));
    for (let second = 0; second < gate.observeSeconds; second += STEP_SECONDS) {
      counts.deviceHours += upgraded * hours;
      counts.baselineDeviceHours += (devices - upgraded) * hours;
      counts.baselineRestarts += happen(devices - upgraded, oldRate);
      for (let event = happen(upgraded, newRate); event > 0; event--) {
        const device = Math.floor(random() * upgraded);
        counts.restarts += 1;
        if (device >= before) recent.set(device, [...(recent.get(device) ?? []), second].slice(-3));
      }
      const loopingDevices = [...recent.values()].filter(
        (times) => times.length === 3 && second - (times[0] ?? 0) <= 600,
      ).length;
      if (isUnhealthy(gate, { version: '2.0.0', ...counts, loopingDevices })) return wave + 1;
    }
    recent.clear();
  }
  return undefined;
}

describe('200 simulated roll-outs', () => {
  const runs = (oldRate: number, newRate: number, devices = 500) =>
    Array.from({ length: 200 }, (_, seed) => rollOut({ devices, oldRate, newRate, seed: seed + 1 }));
  const stopped = (results: readonly (number | undefined)[]) => results.filter((wave) => wave !== undefined).length;

  it.each([0, 1, 5, 20, 100, 1_000])('of a healthy image are stopped in at most 5 %% (%d per 1,000 hours)', (rate) => {
    expect(stopped(runs(rate, rate))).toBeLessThanOrEqual(10);
  });

  it('of an image whose devices restart every two minutes are all stopped in the first wave', () => {
    expect(runs(5, 30_000)).toEqual(Array.from({ length: 200 }, () => 1));
    // Also where the first wave has five devices.
    expect(runs(5, 30_000, 100)).toEqual(Array.from({ length: 200 }, () => 1));
  });

  it('of an image that restarts fifty times as often are stopped before the last wave', () => {
    const results = runs(20, 1_000);
    expect(results.filter((wave) => wave !== undefined && wave < WAVES.length).length).toBeGreaterThanOrEqual(190);
  });
});
