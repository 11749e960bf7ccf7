/** Ownership and claims: one owner per property, and one set under way per device. */
import { randomUUID } from 'node:crypto';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toJson } from '../../database/json-rows.js';
import { AT } from '../../jobs/new-job.suite.js';
import type { DesiredStateRow, NewDesiredState } from '../desired-state.js';
import { by, editOf, fencedWith, openDesiredStateFixture, targetOf } from '../desired-state-fixture.suite.js';
import type { DesiredStateFixture } from '../desired-state-fixture.suite.js';
import { SENDING_LOCK, type FencedTarget } from './desired-state-queue.js';
import { CLAIM_SETS } from './desired-statements.js';

const brightness: Partial<NewDesiredState> = {
  tool: 'self.screen.set_brightness',
  arguments: { brightness: 50 },
  readback: { tool: 'self.get_device_status', path: 'screen.brightness', argument: 'brightness' },
};

describe('desired states of several processes', () => {
  let fixture: DesiredStateFixture;
  let first: HubProcessId;
  let second: HubProcessId;

  beforeEach(async () => {
    fixture = await openDesiredStateFixture();
    [first, second] = [fixture.jobs.owner, await fixture.jobs.addProcess()];
  });
  afterEach(() => fixture.close());

  const ownedBy = async (process: HubProcessId) =>
    (await fixture.queue.owned(process)).map(({ state }) => state.id).sort();

  /** Entries that differ, as a comparison leaves them before a set. */
  async function differing(state: DesiredStateRow, owner: HubProcessId, deviceIds: readonly string[]) {
    const targets = fencedWith(
      await fixture.fenceOf(state, owner),
      deviceIds.map((deviceId) => targetOf(state, deviceId, 'APPLYING')),
    );
    await fixture.queue.write(owner, targets);
    return targets;
  }
  const claimed = async (owner: HubProcessId, targets: Parameters<DesiredStateFixture['queue']['claim']>[1]) =>
    (await fixture.queue.claim(owner, targets)).map(({ deviceId }) => deviceId).sort();

  it('have one owner each, and those of one property the same one', async () => {
    const [quiet, loud] = [await fixture.create(), await fixture.create({ priority: 1 })];
    expect([...(await fixture.queue.takeOwnership(first))].sort()).toEqual([quiet.id, loud.id].sort());
    const [later, bright] = [await fixture.create({ priority: 2 }), await fixture.create(brightness)];
    expect(await fixture.queue.takeOwnership(second)).toEqual([bright.id]);
    expect(await fixture.queue.takeOwnership(first)).toEqual([later.id]);
    expect(await ownedBy(first)).toEqual([quiet.id, loud.id, later.id].sort());
    await fixture.jobs.endLease(first);
    expect([...(await fixture.queue.takeOwnership(second))].sort()).toEqual([quiet.id, loud.id, later.id].sort());
    expect(await ownedBy(second)).toEqual([quiet.id, loud.id, later.id, bright.id].sort());
  });

  it('are each taken once by processes that ask at the same time', async () => {
    const states = await Promise.all(Array.from({ length: 6 }, () => fixture.create()));
    const taken = await Promise.all(
      [first, second, first, second].map((process) => fixture.queue.takeOwnership(process)),
    );
    expect(taken.flat().sort()).toEqual(states.map(({ id }) => id).sort());
    expect(taken.filter((ids) => ids.length > 0)).toHaveLength(1);
  });

  it('claim each device once, and not while another set of it is under way', async () => {
    const [volume, bright] = [await fixture.create(), await fixture.create(brightness)];
    const ofVolume = await differing(volume, first, ['a', 'b']);
    const ofBright = await differing(bright, first, ['a', 'c']);
    expect(await claimed(first, ofVolume)).toEqual(['a', 'b']);
    expect(await claimed(first, ofVolume)).toEqual([]);
    expect(await claimed(first, ofBright)).toEqual(['c']);
    const rows = (await fixture.reads.targets(volume.id, undefined, { first: 10 })).rows;
    expect(rows.map(({ attempts, isSending }) => [attempts, isSending])).toEqual([
      [1, true],
      [1, true],
    ]);
    await fixture.queue.write(first, fencedWith(ofVolume[0]?.fence ?? 0, [targetOf(volume, 'a', 'IN_SYNC')]));
    expect(await claimed(first, ofBright)).toEqual(['a']);
  });

  it('write no index when they claim', async () => {
    const state = await fixture.create();
    const targets = await differing(state, first, ['a', 'b']);
    const changes = await fixture.jobs.db.transaction(async (transaction) => {
      await CLAIM_SETS.run(transaction, { rows: rowsOf(targets), owner: first });
      return transaction.query(
        {
          text: `SELECT pg_stat_get_xact_tuples_updated(oid)::int AS updated,
              pg_stat_get_xact_tuples_hot_updated(oid)::int AS heap_only
            FROM pg_class WHERE relname = 'desired_state_target'`,
        },
        [],
      );
    });
    expect(changes).toEqual([{ updated: 2, heap_only: 2 }]);
  });

  it('wait for a claim of another process: no index keeps two sets of one device apart', async () => {
    const ofVolume = await differing(await fixture.create(), first, ['a']);
    const ofBright = await differing(await fixture.create(brightness), second, ['a']);
    const { db } = fixture.jobs;
    const waiting = {
      text: `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    };
    const { later } = await db.transaction(async (transaction) => {
      await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [SENDING_LOCK]);
      await CLAIM_SETS.run(transaction, { rows: rowsOf(ofVolume), owner: first });
      const claim = claimed(second, ofBright);
      await expect.poll(() => db.query(waiting, [SENDING_LOCK])).toHaveLength(1);
      return { later: claim };
    });
    expect(await later).toEqual([]);
  });

  it('never claim one device twice from two processes', async () => {
    const volume = await fixture.create();
    const devices = Array.from({ length: 40 }, (_, n) => `device-${String(n).padStart(2, '0')}`);
    const ofVolume = await differing(volume, first, devices);
    const bright = await fixture.create(brightness);
    const ofBright = await differing(bright, second, devices);
    const parts = Array.from({ length: 8 }, (_, n) => n * 5);
    const answers = await Promise.all(
      parts.flatMap((from) => [
        claimed(first, ofVolume.slice(from, from + 5)),
        claimed(second, ofBright.slice(from, from + 5)),
      ]),
    );
    expect(answers.flat().sort()).toEqual(devices);
  });

  it('do not claim an entry that was edited, is owned by another one, or does not differ', async () => {
    const state = await fixture.create();
    const targets = await differing(state, first, ['a', 'b']);
    expect(await claimed(second, targets)).toEqual([]);
    const fence = targets[0]?.fence ?? 0;
    await fixture.queue.write(first, fencedWith(fence, [targetOf(state, 'a', 'IN_SYNC')]));
    expect(await claimed(first, targets)).toEqual(['b']);
    await fixture.queue.write(first, fencedWith(fence, [targetOf(state, 'b', 'APPLYING')]));
    await fixture.store.update(editOf(state, { arguments: { volume: 31 } }), 1, { at: AT, by });
    expect(await claimed(first, targets)).toEqual([]);
  });

  it('claim the former generation where a roll-out has not come', async () => {
    const state = await fixture.create();
    const targets = await differing(state, first, ['a']);
    const waves = [{ count: 1, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' as const }];
    await fixture.store.update(editOf(state, { waves }), 1, { at: AT, by });
    expect(await claimed(first, targets)).toEqual(['a']);
  });

  it('leave devices alone that a disruptive job is calling', async () => {
    const [held = '', free = ''] = await fixture.jobs.addDevices(2);
    const job = { tool: 'self.reboot', disruptive: true, disconnectExpected: true, devices: { ids: [held] } } as const;
    const fence = await fixture.jobs.runningJob(job);
    await fixture.jobs.targetQueue.claim(fence, 1, AT, true);
    const targets = await differing(await fixture.create(), first, [held, free]);
    expect(await claimed(first, targets)).toEqual([free]);
  });

  it('count sets of a former owner as sent, and free their devices', async () => {
    const [volume, bright] = [await fixture.create(), await fixture.create(brightness)];
    await fixture.queue.claim(first, await differing(volume, first, ['a']));
    await fixture.jobs.endLease(first);
    expect(await fixture.queue.takeOwnership(second)).toHaveLength(2);
    const [row] = (await fixture.reads.targets(volume.id, undefined, { first: 1 })).rows;
    expect(row).toMatchObject({ state: 'APPLYING', attempts: 1, isSending: false });
    expect(await fixture.queue.applying([volume.id], '', 10)).toEqual(['a']);
    expect(await claimed(second, await differing(bright, second, ['a']))).toEqual(['a']);
  });

  it('list what they cover page by page: devices that match, and those with an entry', async () => {
    const devices = await fixture.jobs.addDevices(5);
    const state = await fixture.create({ devices: { ids: devices.slice(0, 3) } });
    await differing(state, first, ['zz-left', devices[2] ?? '']);
    const [owned] = await fixture.queue.owned(first);
    if (owned === undefined) throw new TypeError('not owned');
    const seen: DeviceId[] = [];
    for (let page = await fixture.queue.covered(owned, '', 2); page.length > 0;) {
      seen.push(...page);
      page = await fixture.queue.covered(owned, page.at(-1) ?? '', 2);
    }
    expect(seen).toEqual([...devices.slice(0, 3), 'zz-left']);
  });

  it('keep the first time at which a share was in sync, for the newest generation only', async () => {
    const state = await fixture.create({ id: randomUUID() });
    await fixture.fenceOf(state);
    const times = { t50Ms: 10, t95Ms: undefined, t99Ms: undefined };
    expect(await fixture.queue.recordConvergence(first, state, times)).toBe(true);
    expect(await fixture.queue.recordConvergence(first, state, { ...times, t50Ms: 99, t95Ms: 20 })).toBe(true);
    expect(await fixture.queue.recordConvergence(second, state, { ...times, t99Ms: 1 })).toBe(false);
    expect(await fixture.queue.recordConvergence(first, { ...state, generation: 2 }, { ...times, t99Ms: 1 })).toBe(
      false,
    );
    expect(await fixture.store.find(state.id)).toMatchObject({ t50Ms: 10, t95Ms: 20, t99Ms: undefined });
  });
});

/** The parameter of a claim. */
function rowsOf(targets: readonly FencedTarget[]) {
  return toJson(
    targets.map(({ fence, row }) => ({
      desired_state_id: row.desiredStateId,
      fence,
      device_id: row.deviceId,
      observed_generation: row.observedGeneration,
      reverts: row.reverts,
    })),
  );
}
