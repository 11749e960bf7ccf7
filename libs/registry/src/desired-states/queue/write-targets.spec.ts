/** The counters of a desired state equal its entries after any batch, also side by side. */
import { complianceStates } from '@flotilla/desired-state';
import type { ComplianceState } from '@flotilla/desired-state';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AT } from '../../jobs/new-job.suite.js';
import { propertyOf } from '../desired-state.js';
import type { DesiredStateRow } from '../desired-state.js';
import { by, fencedWith, openDesiredStateFixture, targetOf } from '../desired-state-fixture.suite.js';
import type { DesiredStateFixture } from '../desired-state-fixture.suite.js';

const RUNS = process.env['FLOTILLA_TEST_LONG'] === '1' ? 300 : 30;
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
const DEVICES = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Change {
  readonly state: ComplianceState;
  readonly isGone: boolean;
}

describe('a batch of entries', () => {
  let fixture: DesiredStateFixture;

  beforeAll(async () => {
    fixture = await openDesiredStateFixture();
  });
  afterAll(() => fixture.close());

  const write = async (fence: number, state: DesiredStateRow, states: Readonly<Record<string, ComplianceState>>) =>
    fixture.queue.write(
      fixture.jobs.owner,
      fencedWith(
        fence,
        Object.entries(states).map(([deviceId, name]) => targetOf(state, deviceId, name)),
      ),
    );
  const remove = async (fence: number, state: DesiredStateRow, deviceIds: readonly string[]) =>
    fixture.queue.write(
      fixture.jobs.owner,
      fencedWith(
        fence,
        deviceIds.map((deviceId) => targetOf(state, deviceId, 'IN_SYNC')),
        true,
      ),
    );

  it('counts new entries, moves, repetitions and removals', async () => {
    const state = await fixture.create();
    const fence = await fixture.fenceOf(state);
    await write(fence, state, { a: 'APPLYING', b: 'APPLYING', c: 'WAITING_DEVICE' });
    expect(await fixture.counted(state)).toEqual({ APPLYING: 2, WAITING_DEVICE: 1 });
    await write(fence, state, { a: 'IN_SYNC', b: 'APPLYING', d: 'IN_SYNC' });
    expect(await fixture.counted(state)).toEqual({ IN_SYNC: 2, APPLYING: 1, WAITING_DEVICE: 1 });
    await write(fence, state, { a: 'IN_SYNC', d: 'IN_SYNC' });
    expect(await fixture.counted(state)).toEqual({ IN_SYNC: 2, APPLYING: 1, WAITING_DEVICE: 1 });
    await remove(fence, state, ['a', 'c', 'never-covered']);
    expect(await fixture.counted(state)).toEqual({ IN_SYNC: 1, APPLYING: 1 });
    expect(await fixture.existing(state)).toEqual({ IN_SYNC: 1, APPLYING: 1 });
  });

  it('keeps a null that a device has reported, which is a value', async () => {
    const [read = '', unread = ''] = await fixture.jobs.addDevices(2);
    const devices = { ids: [read, unread] };
    const state = await fixture.create({ devices });
    const none = { reported: undefined, reportedAt: undefined };
    const rows = [
      targetOf(state, read, 'DRIFTED', { reported: null, reportedAt: AT }),
      targetOf(state, unread, 'WAITING_DEVICE', none),
    ];
    await fixture.queue.write(fixture.jobs.owner, fencedWith(await fixture.fenceOf(state), rows));
    const property = { ...state.readback, property: propertyOf(state.readback) };
    const counted = await fixture.reads.countValues(devices, property, 9);
    const known = Object.fromEntries(counted.map(({ isKnown, sample }) => [sample.join(), isKnown]));
    expect(known).toEqual({ [read]: true, [unread]: false });
  });

  it('returns all that it wrote, with the values of each entry', async () => {
    const state = await fixture.create();
    const row = targetOf(state, 'a', 'RETRYING', {
      reported: { on: null },
      reportedAt: AT + 1,
      attempts: 2,
      nextTryAt: AT + 2,
      edgeAt: AT + 3,
      reverts: [AT, AT + 4],
      error: { code: 'DEVICE_ERROR', message: 'no', rpcCode: -3 },
      blockedBy: [state.id],
    });
    const written = await fixture.queue.write(
      fixture.jobs.owner,
      fencedWith(await fixture.fenceOf(state), [row, targetOf(state, 'b', 'IN_SYNC')]),
    );
    expect(written.map(({ deviceId }) => deviceId).sort()).toEqual(['a', 'b']);
    const { rows } = await fixture.reads.targets(state.id, undefined, { first: 1 });
    expect(rows).toEqual([row]);
    expect(await fixture.queue.due([state.id], AT + 1, 10)).toEqual([]);
    expect(await fixture.queue.due([state.id], AT + 2, 10)).toEqual(['a']);
  });

  it('keeps counters equal to entries in random histories', { timeout: 120_000 }, async () => {
    const change = fc.record({ state: fc.constantFrom(...complianceStates), isGone: fc.boolean() });
    const batch = fc.dictionary(fc.constantFrom(...DEVICES), change, { minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 12 }), async (batches) => {
        const state = await fixture.create();
        const fence = await fixture.fenceOf(state);
        for (const each of batches) {
          await fixture.queue.write(
            fixture.jobs.owner,
            Object.entries(each).map(([deviceId, { state: name, isGone }]: [string, Change]) => ({
              fence,
              row: targetOf(state, deviceId, name),
              isGone,
            })),
          );
          expect(await fixture.counted(state)).toEqual(await fixture.existing(state));
        }
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  it('adds up with batches of other devices at the same time', async () => {
    const state = await fixture.create();
    const fence = await fixture.fenceOf(state);
    const rounds: readonly ComplianceState[] = ['APPLYING', 'IN_SYNC', 'HELD'];
    for (const name of rounds)
      await Promise.all(
        Array.from({ length: 8 }, (_, part) =>
          write(
            fence,
            state,
            Object.fromEntries(
              Array.from({ length: 25 }, (_each, device) => [`${String(part)}-${String(device)}`, name]),
            ),
          ),
        ),
      );
    expect(await fixture.counted(state)).toEqual({ HELD: 200 });
  });

  it('of a former owner, or one without a lease, changes nothing', async () => {
    const [first, second] = [await fixture.jobs.addProcess(), await fixture.jobs.addProcess()];
    await fixture.queue.release(fixture.jobs.owner);
    const state = await fixture.create();
    const fence = await fixture.fenceOf(state, first);
    const row = targetOf(state, 'a', 'APPLYING');
    expect(await fixture.queue.write(first, fencedWith(fence, [row]))).toHaveLength(1);
    await fixture.jobs.endLease(first);
    expect(await fixture.queue.write(first, fencedWith(fence, [{ ...row, state: 'IN_SYNC' }]))).toEqual([]);
    const next = await fixture.fenceOf(state, second);
    expect(next).toBeGreaterThan(fence);
    expect(await fixture.queue.write(second, fencedWith(fence, [{ ...row, state: 'IN_SYNC' }]))).toEqual([]);
    expect(await fixture.counted(state)).toEqual({ APPLYING: 1 });
    expect(await fixture.queue.write(second, fencedWith(next, [{ ...row, state: 'IN_SYNC' }]))).toHaveLength(1);
    expect(await fixture.counted(state)).toEqual({ IN_SYNC: 1 });
    await fixture.queue.release(second);
  });

  it('of a desired state that is disabled or deleted leaves no entry behind', async () => {
    const [disabled, deleted] = [await fixture.create(), await fixture.create()];
    for (const [state, end] of [
      [disabled, () => fixture.store.setEnabled(disabled.id, false, { at: AT, by })],
      [deleted, () => fixture.store.remove(deleted.id, { at: AT, by })],
    ] as const) {
      const fence = await fixture.fenceOf(state);
      await write(fence, state, { a: 'IN_SYNC' });
      // Batches that arrive before, during and after the end.
      await Promise.all([
        ...Array.from({ length: 5 }, (_, n) => write(fence, state, { [`early-${String(n)}`]: 'APPLYING' })),
        end(),
        ...Array.from({ length: 5 }, (_, n) => write(fence, state, { [`late-${String(n)}`]: 'APPLYING' })),
      ]);
      expect(await write(fence, state, { b: 'IN_SYNC' })).toEqual([]);
      expect([await fixture.existing(state), await fixture.counted(state)]).toEqual([{}, {}]);
    }
  });
});
