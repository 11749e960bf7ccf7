/** What is decided in PostgreSQL when people edit desired states at the same time. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AT } from '../jobs/new-job.suite.js';
import { by, editOf, fencedWith, openDesiredStateFixture, planOf, targetOf } from './desired-state-fixture.suite.js';
import type { DesiredStateFixture } from './desired-state-fixture.suite.js';

const change = { at: AT, by };

describe('the store of desired states', () => {
  let fixture: DesiredStateFixture;

  beforeAll(async () => {
    fixture = await openDesiredStateFixture();
  });
  afterAll(() => fixture.close());

  it('saves one of several edits of the same generation', async () => {
    const state = await fixture.create();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((volume) => fixture.store.update(editOf(state, { arguments: { volume } }), 1, change)),
    );
    expect(answers.map(({ kind }) => kind).sort()).toEqual([...Array<string>(4).fill('OTHER_GENERATION'), 'saved']);
    const edits = await fixture.reads.edits(state.id, 10);
    expect(edits.map(({ generation }) => generation)).toEqual([2, 1]);
    const found = await fixture.store.find(state.id);
    expect(found).toMatchObject({ generation: 2, arguments: edits[0]?.plan.arguments });
  });

  it('has pages of edits, latest first', async () => {
    const state = await fixture.create();
    for (const generation of [1, 2, 3])
      await fixture.store.update(editOf(state, { arguments: { volume: generation } }), generation, change);
    const generationsAfter = async (after?: string) => {
      const page = await fixture.reads.editsPage(state.id, { first: 3, ...(after !== undefined && { after }) });
      return { ...page, generations: page.rows.map(({ generation }) => generation) };
    };
    const latest = await generationsAfter();
    expect(latest).toMatchObject({ generations: [4, 3, 2], hasNextPage: true });
    expect(await generationsAfter(latest.cursors.at(-1))).toMatchObject({ generations: [1], hasNextPage: false });
    await expect(generationsAfter('nonsense')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  it('creates one of several with the same name, and one for the same key', async () => {
    const name = randomUUID();
    const limit = { ...change, statesMax: 1_000 };
    const named = await Promise.all([1, 2, 3].map(() => fixture.store.create(planOf({ name }), limit)));
    expect(named.map(({ kind }) => kind).sort()).toEqual(['NAME_TAKEN', 'NAME_TAKEN', 'saved']);
    const plan = planOf();
    const repeated = await Promise.all([1, 2, 3].map(() => fixture.store.create({ ...plan, id: randomUUID() }, limit)));
    expect(repeated.map(({ kind }) => kind).sort()).toEqual(['repeat', 'repeat', 'saved']);
    expect(new Set(repeated.map((answer) => 'state' in answer && answer.state.id)).size).toBe(1);
  });

  it('shows the times of all devices only to viewers who see all, and to the key that created it', async () => {
    const state = await fixture.create({ devices: { all: true } });
    const fence = await fixture.fenceOf(state);
    const [deviceId] = await fixture.jobs.addDevices(1);
    await fixture.queue.write(fixture.jobs.owner, fencedWith(fence, [targetOf(state, deviceId ?? '', 'IN_SYNC')]));
    const times = { t50Ms: 1_000, t95Ms: 2_000, t99Ms: 3_000 };
    expect(await fixture.queue.recordConvergence(fixture.jobs.owner, state, times)).toBe(true);
    const within = { all: true };
    const [own, other] = [
      { creator: state.createdById, within },
      { creator: 'KEY:other', within },
    ];
    expect(await fixture.reads.find(state.id)).toMatchObject(times);
    expect(await fixture.reads.find(state.id, own)).toMatchObject(times);
    const hidden = { id: state.id, t50Ms: undefined, t95Ms: undefined, t99Ms: undefined };
    expect(await fixture.reads.find(state.id, other)).toMatchObject(hidden);
    const { rows } = await fixture.reads.page({ first: 1_000 }, other);
    expect(rows.find(({ id }) => id === state.id)).toMatchObject(hidden);
  });

  it('holds no more than the limit, also when they are created at the same time', async () => {
    const statesMax = (await fixture.reads.count()) + 2;
    const answers = await Promise.all([1, 2, 3, 4].map(() => fixture.store.create(planOf(), { ...change, statesMax })));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['FULL', 'FULL', 'saved', 'saved']);
  });

  it('lets another process take one whose property was edited, and refuses writes of the former owner', async () => {
    const state = await fixture.create();
    const fence = await fixture.fenceOf(state);
    const readback = { tool: 'self.get_device_status', path: 'screen.brightness', argument: 'volume' };
    await fixture.store.update(editOf(state, { readback }), 1, change);
    const row = targetOf({ ...state, generation: 2 }, 'a', 'IN_SYNC');
    expect(await fixture.queue.write(fixture.jobs.owner, fencedWith(fence, [row]))).toEqual([]);
    const other = await fixture.jobs.addProcess();
    expect(await fixture.queue.takeOwnership(other)).toContain(state.id);
  });

  it('enables once, forgets entries when it disables, and leaves a paused one to its next edit', async () => {
    const state = await fixture.create({ enabled: false });
    const on = await Promise.all([1, 2, 3].map(() => fixture.store.setEnabled(state.id, true, change)));
    expect(on.map(({ kind }) => kind).sort()).toEqual(['repeat', 'repeat', 'saved']);
    const fence = await fixture.fenceOf(state);
    await fixture.queue.write(fixture.jobs.owner, fencedWith(fence, [targetOf(state, 'a', 'IN_SYNC')]));
    expect(await fixture.store.pause(state, 'the key was revoked', AT, by)).toBe(true);
    expect(await fixture.store.pause(state, 'again', AT, by)).toBe(false);
    expect([await fixture.existing(state), await fixture.counted(state)]).toEqual([{}, {}]);
    expect((await fixture.store.setEnabled(state.id, true, change)).kind).toBe('PAUSED');
    const saved = await fixture.store.update(editOf(state, { enabled: true }), 1, change);
    expect(saved).toMatchObject({ state: { enabled: true, pausedReason: undefined, generation: 2 } });
  });

  it('is not paused for who saved it before an edit', async () => {
    const state = await fixture.create();
    const edit = editOf(state, { savedById: 'KEY:other', enabled: undefined });
    expect(await fixture.store.update(edit, 1, { at: AT, by })).toMatchObject({ kind: 'saved' });
    expect(await fixture.store.pause(state, 'the key was revoked', AT, by)).toBe(false);
    expect(await fixture.store.find(state.id)).toMatchObject({ enabled: true, pausedReason: undefined });
  });

  it('is not paused beside a roll-out that began meanwhile: it would call devices on', async () => {
    const waves = [{ count: 1, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' as const }];
    const state = await fixture.create({ waves });
    const rolloutJobId = randomUUID();
    expect(await fixture.store.startRollout(state, rolloutJobId)).toBe(true);
    expect(await fixture.store.pause(state, 'the key was revoked', AT, by)).toBe(false);
    expect(await fixture.store.pause({ ...state, rolloutJobId }, 'the key was revoked', AT, by)).toBe(true);
  });

  it('leaves a disabled and a paused one as they are, if an edit does not say otherwise', async () => {
    const [disabled, paused] = [await fixture.create(), await fixture.create()];
    await fixture.store.setEnabled(disabled.id, false, change);
    await fixture.store.pause(paused, 'the key was revoked', AT, by);
    const edit = { arguments: { volume: 31 }, enabled: undefined };
    expect(await fixture.store.update(editOf(disabled, edit), 1, change)).toMatchObject({
      state: { enabled: false, pausedReason: undefined, generation: 2, arguments: { volume: 31 } },
    });
    expect(await fixture.store.update(editOf(paused, edit), 1, change)).toMatchObject({
      state: { enabled: false, pausedReason: 'the key was revoked', generation: 2 },
    });
    expect(await fixture.store.update(editOf(disabled, { enabled: true }), 2, change)).toMatchObject({
      state: { enabled: true },
    });
  });

  it('settles the roll-out of the newest generation only', async () => {
    const waves = [{ count: 1, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' as const }];
    const state = await fixture.create({ waves });
    expect(state.settledGeneration).toBe(0);
    expect(await fixture.store.startRollout({ ...state, generation: 2 }, randomUUID())).toBe(false);
    await fixture.store.update(editOf(state, { waves, arguments: { volume: 31 } }), 1, change);
    expect(await fixture.store.settleRollout(state.id, 1)).toBe(false);
    expect(await fixture.store.settleRollout(state.id, 2)).toBe(true);
    expect(await fixture.store.settleRollout(state.id, 2)).toBe(false);
  });

  it('keeps each roll-out of a generation once when another one follows it', async () => {
    const waves = [{ count: 1, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' as const }];
    const state = await fixture.create({ waves });
    const [first, second, third, fourth] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const start = async (former: string | undefined, jobId: string) => {
      const row = (await fixture.store.find(state.id)) ?? state;
      expect(await fixture.store.startRollout({ ...row, rolloutJobId: former }, jobId)).toBe(true);
    };
    // The API and a worker may start it at the same time.
    await Promise.all([start(undefined, first), start(undefined, first), start(undefined, first)]);
    await start(first, first);
    for (const former of [first, first, second]) await start(former, second);
    for (const enabled of [false, true]) await fixture.store.setEnabled(state.id, enabled, change);
    await start(undefined, third);
    await fixture.store.update(editOf(state, { waves }), 1, change);
    await start(undefined, fourth);
    await fixture.fenceOf(state);
    const rollouts = async () => {
      const owned = await fixture.queue.owned(fixture.jobs.owner);
      return owned.find((each) => each.state.id === state.id)?.rollouts;
    };
    const jobs = [first, second, third].map((jobId) => ({ generation: 1, jobId }));
    expect(await rollouts()).toEqual([...jobs, { generation: 2, jobId: fourth }]);
    await fixture.store.settleRollout(state.id, 2);
    expect(await rollouts()).toEqual([]);
  });

  it.each(['saved', 'enabled', 'continued'])('keeps a job of a former version when it is %s again', async (by) => {
    const waves = [{ count: 1, successThreshold: 1, soakSeconds: 0, gate: 'AUTO' as const }];
    const state = await fixture.create({ waves });
    const [former, next] = [randomUUID(), randomUUID()];
    // It notes the job in the row alone.
    await fixture.jobs.db.query({ text: 'UPDATE desired_state SET rollout_job_id = $2 WHERE id = $1' }, [
      state.id,
      former,
    ]);
    if (by === 'saved') await fixture.store.update(editOf(state, { waves }), 1, change);
    else if (by === 'continued') await fixture.store.startRollout({ ...state, rolloutJobId: former }, next);
    else for (const enabled of [false, true]) await fixture.store.setEnabled(state.id, enabled, change);
    await fixture.fenceOf(state);
    const owned = await fixture.queue.owned(fixture.jobs.owner);
    const rollouts = owned.find((each) => each.state.id === state.id)?.rollouts;
    expect(rollouts?.[0]).toEqual({ generation: 1, jobId: former });
  });

  it('counts summaries within a scope from the entries of its devices', async () => {
    const [seen = '', other = ''] = await fixture.jobs.addDevices(2);
    const state = await fixture.create();
    const fence = await fixture.fenceOf(state);
    const since = AT - 60_000;
    await fixture.queue.write(
      fixture.jobs.owner,
      fencedWith(fence, [targetOf(state, seen, 'HELD', { since }), targetOf(state, other, 'IN_SYNC')]),
    );
    const scope = { within: { ids: [seen] }, creator: 'KEY:other' };
    const [[all], [part]] = await Promise.all([
      fixture.reads.summaries([state.id]),
      fixture.reads.summaries([state.id], scope),
    ]);
    expect([Object.fromEntries(all?.counts ?? []), all?.oldestDriftAt]).toEqual([{ HELD: 1, IN_SYNC: 1 }, since]);
    expect(Object.fromEntries(part?.counts ?? [])).toEqual({ HELD: 1 });
    const targets = await fixture.reads.targets(state.id, undefined, { first: 10 }, scope);
    expect(targets.rows.map(({ deviceId }) => deviceId)).toEqual([seen]);
  });
});
