/** Recurring jobs that change, end or run elsewhere while a run of them begins. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Registry } from '@flotilla/registry';
import { CallRules } from '../calls/call-rules.js';
import { operator, silent, storeWith } from '../fleet-fixture.suite.js';
import { Fleet } from '../fleet.js';
import { RecurringFixture, requestOf, volumeOf } from './recurring-fixture.suite.js';

const HOUR = 3_600_000;

describe('a recurring job', () => {
  let fixture: RecurringFixture;
  const job = volumeOf({ ids: ['x'] });

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['x']);
    await fixture.hub.disconnect('x');
  });
  afterAll(() => fixture.close());

  /** Runs what is due, with `meanwhile` between the list of due jobs and the first run. */
  async function runDueWith(meanwhile: () => Promise<unknown>): Promise<void> {
    const { registry } = fixture.hub;
    const due = async (at: number, limit: number) => {
      const rows = await registry.recurringJobs.due(at, limit);
      await meanwhile();
      return rows;
    };
    const recurringJobs = storeWith(registry.recurringJobs, { due } as Partial<Registry['recurringJobs']>);
    await fixture.runs({ ...registry, recurringJobs }).runDue();
  }

  it('that another person saves while its run begins does not run with the rights of the former one', async () => {
    const { hub } = fixture;
    const [former, next] = [await fixture.owner(), await fixture.owner()];
    const recurring = await fixture.created({ job }, former);
    await fixture.whenDue(recurring);
    await runDueWith(() => hub.fleet.updateRecurringJob(recurring.id, requestOf({ name: recurring.name, job }), next));
    expect(await fixture.found(recurring.id)).toMatchObject({ savedById: next.id });
    expect(await fixture.jobsOf(recurring)).toEqual([]);
    await hub.fleet.deleteRecurringJob(recurring.id, operator);
  });

  it('that a person disables or deletes while its run begins does not run', async () => {
    const { hub } = fixture;
    const owner = await fixture.owner();
    const disabled = await fixture.created({ job }, owner);
    const deleted = await fixture.created({ job }, owner);
    await fixture.whenDue(disabled);
    await runDueWith(async () => {
      const off = requestOf({ name: disabled.name, job, enabled: false });
      expect(await hub.fleet.updateRecurringJob(disabled.id, off, owner)).toMatchObject({ job: { enabled: false } });
      await hub.fleet.deleteRecurringJob(deleted.id, owner);
    });
    expect([await fixture.jobsOf(disabled), await fixture.jobsOf(deleted)]).toEqual([[], []]);
    await hub.fleet.deleteRecurringJob(disabled.id, operator);
  });

  it('that is saved with a valid key while the hub finds the former one revoked is not paused', async () => {
    const { hub } = fixture;
    const [former, next] = [await fixture.owner(), await fixture.owner()];
    const recurring = await fixture.created({ job }, former);
    const id = former.id.slice('KEY:'.length);
    await hub.registry.apiKeys.revoke(id, { at: hub.clock.now(), by: { actor: 'spec' } });
    await fixture.whenDue(recurring);
    await runDueWith(() => hub.fleet.updateRecurringJob(recurring.id, requestOf({ name: recurring.name, job }), next));
    expect(await fixture.found(recurring.id)).toMatchObject({ enabled: true, pausedReason: undefined });
    await hub.fleet.deleteRecurringJob(recurring.id, operator);
  });

  it('that another person saves while a caller runs it has the request that its caller could see', async () => {
    const { fleet, registry } = fixture.hub;
    const [owner, next] = [await fixture.owner({ ids: ['x'] }), await fixture.owner()];
    const recurring = await fixture.created({ job }, owner);
    const louder = { ...job, arguments: { volume: 30 } };
    const save = () => fleet.updateRecurringJob(recurring.id, requestOf({ name: recurring.name, job: louder }), next);
    const { recurringJobs } = registry;
    const thenSaved = async <Read>(read: Promise<Read>): Promise<Read> => {
      const row = await read;
      expect(await save()).toHaveProperty('job');
      return row;
    };
    const reads: Partial<Registry['recurringJobs']> = {
      find: (id) => thenSaved(recurringJobs.find(id)),
      findRun: (id) => thenSaved(recurringJobs.findRun(id)),
    };
    const slow = { ...registry, recurringJobs: storeWith(recurringJobs, reads) };
    const racing = new Fleet({ ...fixture.hub, registry: slow, logger: silent, callRules: new CallRules([]) });
    const { job: run } = await racing.runRecurringJob(recurring.id, owner);
    expect(run?.arguments).toEqual({ volume: 20 });
    expect(await racing.runRecurringJob(recurring.id, owner)).toMatchObject({ refusal: { code: 'CONFLICT' } });
    await fleet.deleteRecurringJob(recurring.id, operator);
  });

  it('whose run began before a crash and an edit does not report it as failed or skipped', async () => {
    const { hub } = fixture;
    const owner = await fixture.owner();
    const recurring = await fixture.created({ job }, owner);
    await fixture.whenDue(recurring);
    const advance = () => Promise.reject(new Error('the worker was killed'));
    const recurringJobs = storeWith(hub.registry.recurringJobs, { advance } as Partial<Registry['recurringJobs']>);
    await fixture.runs({ ...hub.registry, recurringJobs }).runDue();
    const edit = requestOf({ name: recurring.name, job: { ...job, arguments: { volume: 30 } } });
    expect(await hub.fleet.updateRecurringJob(recurring.id, edit, owner)).toHaveProperty('job');
    const heard: string[] = [];
    const unsubscribe = hub.bus.feed.subscribe('event', ({ type }) => {
      if (type.startsWith('recurring_job.')) heard.push(type);
    });
    await fixture.runs().runDue();
    expect(await fixture.jobsOf(recurring)).toHaveLength(1);
    expect((await fixture.found(recurring.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
    // An event would have come during these reads.
    unsubscribe();
    expect(heard).toEqual([]);
    await hub.fleet.deleteRecurringJob(recurring.id, operator);
  });

  it('does not make up for a missed run after its end', async () => {
    const { hub } = fixture;
    const until = hub.clock.now() + 1.5 * HOUR;
    const recurring = await fixture.created({ job, missed: 'RUN_ONCE', until }, await fixture.owner());
    await fixture.whenDue(recurring);
    hub.clock.advance(until + HOUR - hub.clock.now());
    await fixture.runs().runDue();
    expect(await fixture.jobsOf(recurring)).toEqual([]);
    await expect.poll(() => fixture.eventsOf(recurring)).toMatchObject([{ reason: 'MISSED' }]);
    expect((await fixture.found(recurring.id)).nextRunAt).toBeUndefined();
    await hub.fleet.deleteRecurringJob(recurring.id, operator);
  });

  it('whose job was created before a long outage does not report that run as missed', async () => {
    const { hub } = fixture;
    const recurring = await fixture.created({ job }, await fixture.owner());
    await fixture.whenDue(recurring);
    const { nextRunAt: dueAt } = await fixture.found(recurring.id);
    await fixture.runs().runDue();
    // The crash: the job is there, and the time was not advanced.
    await hub.registry.recurringJobs.advance(recurring.id, (await fixture.found(recurring.id)).nextRunAt ?? 0, dueAt);
    hub.clock.advance(HOUR / 2);
    await fixture.runs().runDue();
    expect((await fixture.found(recurring.id)).nextRunAt).toBeGreaterThan(hub.clock.now());
    expect(await fixture.jobsOf(recurring)).toHaveLength(1);
    expect(await fixture.eventsOf(recurring)).toEqual([]);
    await hub.fleet.deleteRecurringJob(recurring.id, operator);
  });

  it.each(['SKIP', 'CANCEL_PREVIOUS'] as const)(
    'that is started twice at once has one run with %s',
    async (overlap) => {
      const { hub } = fixture;
      const owner = await fixture.owner();
      const recurring = await fixture.created({ job, overlap }, owner);
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => hub.fleet.runRecurringJob(recurring.id, owner)),
      );
      const started = answers.flatMap(({ job: run }) => run ?? []);
      const live = (await fixture.jobsOf(recurring)).filter(({ conclusion }) => conclusion === undefined);
      expect(live).toHaveLength(1);
      expect(started).toHaveLength(overlap === 'SKIP' ? 1 : 4);
      await hub.fleet.deleteRecurringJob(recurring.id, operator);
    },
  );
});
