import { describe, expect, it } from 'vitest';
import { decide } from './decide.js';
import { entryOf, factsOf, NOW, wantedOf } from './entry.suite.js';
import type { Entry, Facts, Wanted } from './entry.js';
import { freshMs } from './limits.js';

const HOUR = 3_600_000;
const drifted = factsOf(80);

function stateAfter(wanted: Partial<Wanted>, entry: Partial<Entry> | undefined, facts: Facts): readonly unknown[] {
  const decision = decide(wantedOf(wanted), entry && entryOf(entry), facts, NOW);
  return [decision.entry.state, decision.next, decision.entry.nextTryAt];
}

describe('a device that is compared', () => {
  it('is in sync if it reports the value, also as a text and within the tolerance', () => {
    for (const [value, tolerance] of [
      [30, 0],
      ['30', 0],
      [31, 1],
      [30.05, 0.1],
    ] as const)
      expect(stateAfter({ tolerance }, undefined, factsOf(value))).toEqual(['IN_SYNC', 'none', undefined]);
    expect(stateAfter({ tolerance: 1 }, undefined, factsOf(32))).toEqual(['APPLYING', 'set', undefined]);
  });

  it('is read first if its value is not known, or older than the look wants', () => {
    expect(stateAfter({}, undefined, factsOf(0, { value: undefined }))).toEqual(['APPLYING', 'read', undefined]);
    const old = { value: { value: 30, at: NOW - 1 }, freshSince: NOW };
    expect(stateAfter({}, {}, factsOf(30, old))).toEqual(['IN_SYNC', 'read', undefined]);
    const stale = { value: { value: 80, at: NOW - freshMs - 1 } };
    expect(stateAfter({}, undefined, factsOf(80, stale))).toEqual(['APPLYING', 'read', undefined]);
  });

  it('waits while it is away, unless its last value is the desired one', () => {
    expect(stateAfter({}, undefined, factsOf(80, { isOnline: false }))).toEqual(['WAITING_DEVICE', 'none', undefined]);
    const inSync = decide(wantedOf(), undefined, factsOf(30, { isOnline: false }), NOW).entry;
    expect(inSync).toMatchObject({ state: 'IN_SYNC', syncedGeneration: 0 });
    // Its next session decides, and a value that differs then is no drift.
    expect(stateAfter({}, inSync, drifted)).toEqual(['APPLYING', 'set', undefined]);
  });

  it('only reports a difference in the mode REPORT', () => {
    expect(stateAfter({ mode: 'REPORT' }, undefined, drifted)).toEqual(['DRIFTED', 'none', undefined]);
    expect(stateAfter({ mode: 'REPORT' }, { state: 'DRIFTED' }, factsOf(30))).toEqual(['IN_SYNC', 'none', undefined]);
    const away = factsOf(80, { isOnline: false });
    expect(stateAfter({ mode: 'REPORT' }, { state: 'DRIFTED' }, away)).toEqual(['DRIFTED', 'none', undefined]);
  });

  it('keeps its entry while a set is under way', () => {
    const entry = entryOf({ state: 'APPLYING', isSending: true });
    const decision = decide(wantedOf({ generation: 2 }), entry, factsOf(80, { isOnline: false }), NOW);
    expect(decision).toEqual({ entry, next: 'none' });
  });

  it('waits for its roll-out where no generation has reached it', () => {
    expect(stateAfter({ generation: 0 }, undefined, drifted)).toEqual(['APPLYING', 'none', undefined]);
  });
});

describe('a value that a person changed', () => {
  it('is left alone for holdSeconds, and then set', () => {
    const held = decide(wantedOf(), entryOf(), drifted, NOW).entry;
    expect(held).toMatchObject({ state: 'HELD', nextTryAt: NOW + 1_800_000, reported: 80 });
    expect(decide(wantedOf(), held, factsOf(81), NOW + 1_799_999)).toMatchObject({
      entry: { state: 'HELD' },
      next: 'none',
    });
    const later = factsOf(80, { value: { value: 80, at: NOW + 1_800_000 } });
    expect(decide(wantedOf(), held, later, NOW + 1_800_000)).toMatchObject({
      entry: { state: 'APPLYING' },
      next: 'set',
    });
  });

  it('stays held while the device is away, and is applied after its return', () => {
    const held = { state: 'HELD', nextTryAt: NOW + 5 } as const;
    expect(stateAfter({}, held, factsOf(80, { isOnline: false }))[0]).toBe('HELD');
    const expired = { state: 'HELD', nextTryAt: NOW - 5 } as const;
    expect(stateAfter({}, expired, factsOf(80, { isOnline: false }))).toEqual(['WAITING_DEVICE', 'none', undefined]);
  });

  it('is left alone also if the hub sees the change when the device is away', () => {
    const away = factsOf(80, { isOnline: false });
    const back = factsOf(80, { cause: 'READY' });
    const held = decide(wantedOf(), entryOf(), away, NOW).entry;
    expect(held).toMatchObject({ state: 'HELD', nextTryAt: NOW + 1_800_000, reported: 80 });
    expect(stateAfter({}, held, back)).toEqual(['HELD', 'none', NOW + 1_800_000]);
    const accepted = decide(wantedOf({ onDrift: 'ACCEPT' }), entryOf(), away, NOW).entry;
    expect(stateAfter({ onDrift: 'ACCEPT' }, accepted, back)).toEqual(['DRIFTED', 'none', undefined]);
    expect(stateAfter({ onDrift: 'REVERT' }, {}, away)).toEqual(['WAITING_DEVICE', 'none', undefined]);
    // An edit is a new decision.
    expect(stateAfter({ generation: 2 }, {}, away)).toEqual(['WAITING_DEVICE', 'none', undefined]);
  });

  it('is accepted until the next edit', () => {
    const accepted = decide(wantedOf({ onDrift: 'ACCEPT' }), entryOf(), drifted, NOW).entry;
    expect(accepted.state).toBe('DRIFTED');
    expect(stateAfter({ onDrift: 'ACCEPT' }, accepted, factsOf(81))).toEqual(['DRIFTED', 'none', undefined]);
    expect(stateAfter({ onDrift: 'ACCEPT', generation: 2 }, accepted, factsOf(81))).toEqual([
      'APPLYING',
      'set',
      undefined,
    ]);
  });

  it('is accepted until the window opens again', () => {
    const accepted = entryOf({ state: 'DRIFTED' });
    const wanted = wantedOf({ onDrift: 'ACCEPT' });
    const block = { state: 'OUT_OF_WINDOW', by: [] } as const;
    const outside = decide(wanted, accepted, factsOf(80, { block }), NOW).entry;
    expect(outside).toMatchObject({ state: 'OUT_OF_WINDOW', syncedGeneration: 0 });
    expect(stateAfter({ onDrift: 'ACCEPT' }, outside, drifted)).toEqual(['APPLYING', 'set', undefined]);
  });

  it('is set again at once with REVERT, five times in an hour', () => {
    const reverts = [50, 40, 30, 20].map((minutes) => NOW - minutes * 60_000);
    expect(stateAfter({ onDrift: 'REVERT' }, { reverts }, drifted)).toEqual(['APPLYING', 'set', undefined]);
    const five = [...reverts, NOW - 60_000];
    expect(stateAfter({ onDrift: 'REVERT' }, { reverts: five }, drifted)).toEqual(['HELD', 'none', NOW + 10 * 60_000]);
    const over = five.map((at) => at - 11 * 60_000);
    expect(stateAfter({ onDrift: 'REVERT' }, { reverts: over }, drifted)).toEqual(['APPLYING', 'set', undefined]);
    // An edit counts as a new beginning.
    expect(stateAfter({ onDrift: 'REVERT', generation: 2 }, { reverts: five }, drifted)[0]).toBe('APPLYING');
  });

  it('is set no more than five times in an hour after short holds either', () => {
    const reverts = [5, 4, 3, 2, 1].map((minutes) => NOW - minutes * 60_000);
    const held = { state: 'HELD', nextTryAt: NOW, reverts } as const;
    expect(stateAfter({ holdSeconds: 1 }, held, drifted)).toEqual(['HELD', 'none', NOW + HOUR - 5 * 60_000]);
  });

  it('is no drift if the desired state did not apply before', () => {
    for (const state of ['OVERRIDDEN', 'CONFLICT', 'OUT_OF_WINDOW', 'UNSUPPORTED'] as const)
      expect(stateAfter({}, { state }, drifted)).toEqual(['APPLYING', 'set', undefined]);
  });
});

describe('a try that failed', () => {
  const retrying = { state: 'RETRYING', attempts: 1, nextTryAt: NOW + 4_000 } as const;

  it('is repeated when it is due, and at once in a new session', () => {
    expect(stateAfter({}, retrying, drifted)).toEqual(['RETRYING', 'none', NOW + 4_000]);
    expect(stateAfter({}, { ...retrying, nextTryAt: NOW }, drifted)).toEqual(['APPLYING', 'set', undefined]);
    expect(stateAfter({}, retrying, factsOf(80, { cause: 'READY' }))).toEqual(['APPLYING', 'set', undefined]);
  });

  it('is over if the value is there by itself', () => {
    expect(decide(wantedOf(), entryOf(retrying), factsOf(30), NOW).entry).toMatchObject({
      state: 'IN_SYNC',
      attempts: 0,
    });
  });

  it('is left alone after five, until a new session, the sweep, or an edit', () => {
    const failed = { state: 'FAILED', attempts: 5 } as const;
    expect(stateAfter({}, failed, drifted)).toEqual(['FAILED', 'none', undefined]);
    for (const cause of ['READY', 'SWEEP'] as const)
      expect(stateAfter({}, failed, factsOf(80, { cause }))).toEqual(['APPLYING', 'set', undefined]);
    expect(stateAfter({ generation: 2 }, failed, drifted)).toEqual(['APPLYING', 'set', undefined]);
  });
});
