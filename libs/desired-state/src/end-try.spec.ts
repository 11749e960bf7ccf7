import { describe, expect, it } from 'vitest';
import { abandonTry, endTry, failRead, startTry } from './end-try.js';
import { entryOf, factsOf, NOW, wantedOf } from './entry.suite.js';

const error = { code: 'DEVICE_ERROR', message: 'no' } as const;
const failed = { kind: 'FAILED', error, isSent: true } as const;
const sending = (attempts: number) => entryOf({ state: 'APPLYING', isSending: true, attempts, syncedGeneration: 0 });
const at = { now: NOW, chance: 0 };

describe('a try', () => {
  it('ends in sync if the value reads back', () => {
    const { entry, next } = endTry(wantedOf(), sending(2), { kind: 'READ' }, factsOf(30), at);
    expect(entry).toMatchObject({ state: 'IN_SYNC', attempts: 0, syncedGeneration: 1, isSending: false });
    expect(next).toBe('none');
  });

  it.each([
    [1, 0, 5_000],
    [1, 1, 7_500],
    [2, 0, 10_000],
    [3, 0.5, 25_000],
    [4, 0, 40_000],
  ])('that failed as number %i is followed by the next one after its wait', (attempts, chance, waitMs) => {
    const { entry } = endTry(wantedOf(), sending(attempts), failed, factsOf(80), { now: NOW, chance });
    expect(entry).toMatchObject({ state: 'RETRYING', nextTryAt: NOW + waitMs, error, attempts });
  });

  it('that failed as the fifth is the last one', () => {
    const { entry } = endTry(wantedOf(), sending(5), failed, factsOf(80), at);
    expect(entry).toMatchObject({ state: 'FAILED', nextTryAt: undefined });
  });

  it('fails if the device accepted the call and shows another value', () => {
    const { entry } = endTry(wantedOf(), sending(1), { kind: 'READ' }, factsOf(80), at);
    expect(entry).toMatchObject({ state: 'RETRYING', error: { code: 'READBACK_DIFFERS' }, reported: 80 });
  });

  it('does not count if nothing was sent', () => {
    const end = { ...failed, isSent: false };
    expect(endTry(wantedOf(), sending(1), end, factsOf(80), at).entry).toMatchObject({
      state: 'RETRYING',
      attempts: 0,
    });
    const away = factsOf(80, { isOnline: false });
    expect(endTry(wantedOf(), sending(1), end, away, at).entry).toMatchObject({ state: 'WAITING_DEVICE', attempts: 0 });
  });

  it('of a former generation decides nothing about the new one', () => {
    const { entry, next } = endTry(
      wantedOf({ generation: 2, desired: 50 }),
      sending(3),
      { kind: 'READ' },
      factsOf(30),
      at,
    );
    expect([entry.state, entry.attempts, next]).toEqual(['APPLYING', 0, 'set']);
  });

  it('counts as a revert if the value had been in sync', () => {
    const first = startTry(wantedOf(), entryOf({ reverts: [NOW - 10] }), NOW);
    expect(first).toMatchObject({ attempts: 1, isSending: true, reverts: [NOW - 10, NOW] });
    expect(startTry(wantedOf(), { ...first, isSending: false }, NOW + 1).reverts).toEqual([NOW - 10, NOW]);
    expect(startTry(wantedOf(), entryOf({ syncedGeneration: 0 }), NOW).reverts).toEqual([]);
  });

  it('of a process that died is counted, and its effect is looked at', () => {
    expect(abandonTry(startTry(wantedOf(), entryOf(), NOW))).toMatchObject({ attempts: 1, isSending: false });
  });

  it('includes a read that failed', () => {
    expect(failRead(entryOf({ state: 'APPLYING' }), { error, isSent: true }, at)).toMatchObject({
      state: 'RETRYING',
      attempts: 1,
      nextTryAt: NOW + 5_000,
    });
    expect(failRead(entryOf({ state: 'APPLYING' }), { error, isSent: false }, at)).toMatchObject({ attempts: 0 });
  });
});
