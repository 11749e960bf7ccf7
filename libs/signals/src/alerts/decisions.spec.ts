/** The decisions about alerts, one by one. */
import { describe, expect, it } from 'vitest';
import { firesAt } from './condition.js';
import type { Condition } from './condition.js';
import { decideFiring } from './decide-firing.js';
import { channelsToRepeat, channelsToResolve, isSilenced } from './decide-notifying.js';
import { decideResolving } from './decide-resolving.js';
import { nextMessage, retryAfterMs } from './decide-sending.js';
import type { WaitingNotification } from './decide-sending.js';

const start = 1_000_000_000;
const rule = { kind: 'DEVICE_OFFLINE', forSeconds: 60, groupAbove: 2 } as const;
/** Long before everything else. */
const hub = { startedAt: 0, graceMs: 135_000 };

const condition = (subject: string, beganAt = start, byHub = false): Condition => ({
  subject,
  deviceId: subject,
  beganAt,
  byHub,
  facts: {},
});
const firing = (waiting: readonly Condition[], now: number, more: object = {}) =>
  decideFiring(rule, { waiting, firedRecently: 0, openGroup: undefined, ...more }, hub, now);

describe('the time from which a condition fires', () => {
  it('is its beginning and the duration', () => {
    expect(firesAt(condition('a'), rule, hub)).toBe(start + 60_000);
  });

  it('is after the grace time if the condition is older than the hub', () => {
    const restarted = { startedAt: start + 1_000, graceMs: 135_000 };
    expect(firesAt(condition('a'), rule, restarted)).toBe(start + 136_000);
    expect(firesAt(condition('a', start - 3_600_000), rule, restarted)).toBe(start + 136_000);
  });

  it('counts from the end of the grace time for what the stop of the hub caused', () => {
    const restarted = { startedAt: start + 5_000, graceMs: 135_000 };
    expect(firesAt(condition('a', start, true), rule, restarted)).toBe(start + 5_000 + 135_000 + 60_000);
    // Another process went on: the grace begins with the stop of the one.
    expect(firesAt(condition('a', start, true), rule, hub)).toBe(start + 135_000 + 60_000);
  });

  it('is not delayed for a device that returned and dropped again, nor for other kinds', () => {
    const restarted = { startedAt: start - 1_000, graceMs: 135_000 };
    expect(firesAt(condition('a'), rule, restarted)).toBe(start + 60_000);
    const paused = { ...rule, kind: 'JOB_STOPPED' } as const;
    expect(firesAt(condition('a'), paused, { startedAt: start + 1_000, graceMs: 135_000 })).toBe(start + 60_000);
  });
});

describe('firing', () => {
  const due = start + 60_000;

  it('waits for the duration and then for further devices', () => {
    expect(firing([condition('a')], due - 1).fired).toEqual([]);
    expect(firing([condition('a')], due + 9_999).fired).toEqual([]);
    expect(firing([condition('a')], due + 10_000).fired).toEqual([
      { conditions: [condition('a')], isGroup: false, groupUntil: undefined },
    ]);
  });

  it('makes one alert per device up to the bound, and one for all above it', () => {
    const two = ['a', 'b'].map((id) => condition(id));
    expect(firing(two, due + 10_000).fired).toHaveLength(2);
    const three = ['a', 'b', 'c'].map((id) => condition(id));
    expect(firing(three, due + 10_000).fired).toEqual([{ conditions: three, isGroup: true, groupUntil: due + 30_000 }]);
  });

  it('counts devices that fired within the same 30 seconds', () => {
    const two = ['c', 'd'].map((id) => condition(id));
    expect(firing(two, due + 10_000, { firedRecently: 1 }).fired).toMatchObject([{ isGroup: true }]);
  });

  it('joins an open group without waiting, and not after it has closed', () => {
    const openGroup = { alertId: 'group', until: due + 5 };
    expect(firing([condition('z')], due, { openGroup })).toEqual({
      fired: [],
      joined: { alertId: 'group', conditions: [condition('z')] },
    });
    expect(firing([condition('z')], due + 10_000, { openGroup }).joined).toBeUndefined();
  });

  it('neither waits nor groups where it is not about devices', () => {
    const stopped = { kind: 'JOB_STOPPED', forSeconds: 0, groupAbove: 0 } as const;
    const jobs = ['j1', 'j2'].map((id) => ({ ...condition(id), deviceId: undefined }));
    const state = { waiting: jobs, firedRecently: 0, openGroup: undefined };
    expect(decideFiring(stopped, state, hub, start).fired).toHaveLength(2);
  });
});

describe('resolving', () => {
  const fired = (subject: string, clearedAt?: number) => ({ subject, alertId: 'one', clearedAt });

  it('waits until the condition is gone for the duration', () => {
    expect(decideResolving(rule, [fired('a', start)], start + 59_999)).toEqual({ ended: [], resolved: [] });
    expect(decideResolving(rule, [fired('a', start)], start + 60_000)).toMatchObject({ resolved: ['one'] });
  });

  it('resolves a group when all its devices are back', () => {
    const now = start + 60_000;
    expect(decideResolving(rule, [fired('a', start), fired('b')], now)).toEqual({
      ended: [fired('a', start)],
      resolved: [],
    });
    expect(decideResolving(rule, [fired('b', start)], now).resolved).toEqual(['one']);
  });
});

describe('messages', () => {
  it('resolve only where the firing was sent or will be, and once', () => {
    const sent = [
      { channelId: 'heard', kind: 'FIRED', state: 'DELIVERED' },
      { channelId: 'waits', kind: 'FIRED', state: 'WAITING' },
      { channelId: 'lost', kind: 'FIRED', state: 'GIVEN_UP' },
      { channelId: 'done', kind: 'FIRED', state: 'DELIVERED' },
      { channelId: 'done', kind: 'RESOLVED', state: 'DELIVERED' },
    ] as const;
    expect(channelsToResolve(sent)).toEqual(['heard', 'waits']);
    expect(channelsToRepeat(['heard', 'waits'], sent)).toEqual(['heard']);
  });

  it('are silenced by a snoozed rule, and by devices that are all snoozed', () => {
    const none = { ruleUntil: undefined, devices: new Set<string>() };
    expect(isSilenced(none, ['a'], start)).toBe(false);
    expect(isSilenced({ ...none, ruleUntil: start + 1 }, [], start)).toBe(true);
    expect(isSilenced({ ...none, ruleUntil: start }, [], start)).toBe(false);
    expect(isSilenced({ ...none, devices: new Set(['a']) }, ['a', 'b'], start)).toBe(false);
    expect(isSilenced({ ...none, devices: new Set(['a', 'b']) }, ['a', 'b'], start)).toBe(true);
    expect(isSilenced({ ...none, devices: new Set(['a']) }, [], start)).toBe(false);
  });

  const waiting = (id: string, kind: WaitingNotification['kind'], more: object = {}): WaitingNotification => ({
    id,
    alertId: id,
    ruleId: 'rule',
    subject: id,
    kind,
    messageId: undefined,
    isFiringDelivered: false,
    ...more,
  });

  it('are collapsed with those of the same type, the oldest first', () => {
    const all = [
      waiting('1', 'FIRED'),
      waiting('2', 'RESOLVED', { isFiringDelivered: true }),
      waiting('3', 'REPEATED'),
    ];
    expect(nextMessage(all, 0)?.notifications.map(({ id }) => id)).toEqual(['1', '3']);
    expect(nextMessage(all.slice(1), 0)?.notifications.map(({ id }) => id)).toEqual(['2']);
  });

  it('keep "resolved" back until the firing was delivered', () => {
    expect(nextMessage([waiting('1', 'RESOLVED')], 0)).toBeUndefined();
  });

  it('are sent again as they were where the end of an attempt is not known', () => {
    const all = [waiting('0', 'FIRED'), waiting('1', 'FIRED', { messageId: 'm' })];
    expect(nextMessage(all, 0)).toEqual({ messageId: 'm', notifications: [all[1]] });
  });

  const ids = (from: readonly WaitingNotification[], failures = 0) =>
    nextMessage(from, failures)?.notifications.map(({ id }) => id);

  it('keep their order where they are about the same device', () => {
    const board = { subject: 'board' };
    const resolved = waiting('2', 'RESOLVED', { ...board, isFiringDelivered: true });
    const all = [waiting('1', 'FIRED'), resolved, waiting('3', 'FIRED', board)];
    expect([all, all.slice(1), all.slice(2)].map((each) => ids(each))).toEqual([['1'], ['2'], ['3']]);
    const unheard = waiting('2', 'RESOLVED', { ...board, alertId: '1' });
    expect(ids([waiting('1', 'FIRED', board), unheard, waiting('3', 'FIRED', board)])).toEqual(['1']);
    // Another rule has its own order.
    expect(ids([...all.slice(0, 2), waiting('3', 'FIRED', { ...board, ruleId: 'other' })])).toEqual(['1', '3']);
  });

  it('keep their order where a group may have the same device', () => {
    const resolved = waiting('2', 'RESOLVED', { isFiringDelivered: true });
    const group = { subject: undefined };
    expect(ids([waiting('1', 'FIRED'), resolved, waiting('3', 'FIRED', group)])).toEqual(['1']);
    const groupResolved = waiting('2', 'RESOLVED', { ...group, isFiringDelivered: true });
    expect(ids([waiting('1', 'FIRED'), groupResolved, waiting('3', 'FIRED')])).toEqual(['1']);
  });

  it('let others pass that were not tried, after three failures in a row', () => {
    const refused = [waiting('1', 'FIRED', { messageId: 'm' }), waiting('2', 'FIRED', { subject: '1' })];
    const all = [...refused, waiting('3', 'FIRED')];
    expect(nextMessage(all, 2)).toMatchObject({ messageId: 'm' });
    expect(nextMessage(all, 3)).toEqual({ messageId: undefined, notifications: [all[2]] });
    // What is about the same device stays behind it.
    expect(nextMessage(refused, 3)).toMatchObject({ messageId: 'm' });
  });

  it('take turns where several failed', () => {
    const failed = ['m', 'n'].map((messageId) => waiting(messageId, 'FIRED', { messageId }));
    expect([0, 1, 2, 3].map((failures) => nextMessage(failed, failures)?.messageId)).toEqual(['m', 'n', 'm', 'n']);
  });

  it('wait together where ten failed: the other end is away', () => {
    const failed = Array.from({ length: 10 }, (_, n) => waiting(`failed ${n}`, 'FIRED', { messageId: `message ${n}` }));
    const fresh = ['1', '2'].map((id) => waiting(id, 'FIRED'));
    expect(ids([...failed.slice(1), ...fresh], 9)).toEqual(['1', '2']);
    expect(ids([...failed, ...fresh], 10)).toEqual(['failed 0']);
  });

  it('wait longer after each failure, up to ten minutes', () => {
    expect([1, 2, 3, 50].map(retryAfterMs)).toEqual([5_000, 10_000, 20_000, 600_000]);
  });
});
