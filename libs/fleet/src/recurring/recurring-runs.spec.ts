/** Recurring jobs over a real database and a manual clock. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RecurringJobRow, Scope } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { noApprovals } from '../approvals/approval-rules.js';
import { CallRules } from '../calls/call-rules.js';
import { boardTools, openHub, quickVerification, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import type { RecurringJobRequest } from './recurring-request.js';
import { RecurringRuns } from './recurring-runs.js';

const HOUR = 3_600_000;
const VOLUME = 'self.audio_speaker.set_volume';

describe('a recurring job', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let runs: RecurringRuns;
  let actor: Actor;
  let keyId: string;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    await hub.connect(['a', 'b'], boardTools);
  });
  beforeEach(async () => {
    runs = openRuns();
    ({ actor, keyId } = await makeKey(['JOBS_WRITE', 'TOOLS_CALL']));
  });
  afterAll(() => fixture.close());

  function openRuns(): RecurringRuns {
    const { registry, bus, clock } = hub;
    return new RecurringRuns({
      registry,
      bus,
      clock,
      logger: silent,
      callRules: new CallRules([]),
      verification: quickVerification,
      approvals: noApprovals,
      mustBeSigned: false,
      downloadOrigin: () => undefined,
    });
  }

  async function makeKey(scopes: readonly Scope[]): Promise<{ readonly actor: Actor; readonly keyId: string }> {
    const change = { keysMax: 1_000, at: hub.clock.now(), by: { actor: 'spec' } };
    const made = await hub.registry.apiKeys.create(
      { name: 'scheduler', scopes, devices: undefined, expiresAt: undefined },
      change,
    );
    if (made.kind !== 'created') throw new TypeError(made.kind);
    const { id } = made.key;
    return {
      keyId: id,
      actor: { id: `KEY:${id}`, name: 'scheduler', mayCallUserOnly: false, mayChangeFirmware: false },
    };
  }

  const requestOf = (change: Partial<RecurringJobRequest> = {}): RecurringJobRequest => ({
    name: randomUUID(),
    cron: '0 * * * *',
    timeZone: 'UTC',
    job: { tool: VOLUME, arguments: { volume: 20 }, devices: { ids: ['a', 'b'] } },
    missed: 'SKIP',
    overlap: 'SKIP',
    until: undefined,
    enabled: true,
    ...change,
  });

  async function created(change: Partial<RecurringJobRequest> = {}, by = actor): Promise<RecurringJobRow> {
    const saved = await hub.fleet.createRecurringJob(requestOf(change), randomUUID(), by);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    return saved.job;
  }

  const jobsOf = async ({ id }: RecurringJobRow) =>
    (await hub.registry.jobs.page({ recurringJobId: id }, { first: 50 })).rows;
  const found = (id: string) => hub.registry.recurringJobs.find(id);

  /** Lets the time pass until the job is due, and `lateMs` more. */
  async function whenDue({ id }: RecurringJobRow, lateMs = 10): Promise<void> {
    const dueAt = (await found(id))?.nextRunAt ?? 0;
    hub.clock.advance(dueAt + lateMs - hub.clock.now());
  }

  async function eventsOf({ id }: RecurringJobRow): Promise<readonly string[]> {
    const page = await hub.registry.events.page({ types: ['recurring_job.*'] }, 'AT_DESC', { first: 50 });
    return page.rows.filter(({ data }) => data['recurringJobId'] === id).map(({ type }) => type);
  }

  it('creates one job at each time, also with several workers', async () => {
    const job = await created();
    await runs.runDue();
    expect(await jobsOf(job)).toEqual([]);
    for (const expected of [1, 2]) {
      await whenDue(job);
      await Promise.all([runs.runDue(), openRuns().runDue(), openRuns().runDue()]);
      const [latest, ...former] = await jobsOf(job);
      expect(former).toHaveLength(expected - 1);
      expect(latest).toMatchObject({ createdBy: `recurring:${job.name}`, createdById: actor.id, name: job.name });
      if (latest !== undefined) expect(await hub.finished(latest.id)).toMatchObject({ conclusion: 'SUCCEEDED' });
    }
    expect((await found(job.id))?.nextRunAt).toBeGreaterThan(hub.clock.now());
    expect(await eventsOf(job)).toEqual([]);
  });

  it('is previewed with its next times and the devices of a run, and is not stored', async () => {
    const count = await hub.registry.recurringJobs.count();
    const preview = await hub.fleet.previewRecurringJob(requestOf({ cron: '0 9 * * *' }), actor);
    if ('refusal' in preview) throw new TypeError(preview.refusal.message);
    expect(preview.job).toMatchObject({ targetCount: 2, onlineCount: 2, missingToolCount: 0 });
    expect(preview.nextRuns).toHaveLength(5);
    for (const at of preview.nextRuns) expect([new Date(at).getUTCHours(), at > hub.clock.now()]).toEqual([9, true]);
    expect(await hub.fleet.previewRecurringJob(requestOf({ cron: 'at night' }), actor)).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', 'cron'] },
    });
    expect(await hub.registry.recurringJobs.count()).toBe(count);
  });

  it('whose job was created before a crash does not create a second one', async () => {
    const job = await created({ overlap: 'CANCEL_PREVIOUS' });
    await whenDue(job);
    const before = await found(job.id);
    await runs.runDue();
    const [first] = await jobsOf(job);
    // The crash: the job is there, and the time was not advanced.
    await hub.registry.recurringJobs.advance(job.id, (await found(job.id))?.nextRunAt ?? 0, before?.nextRunAt);
    await openRuns().runDue();
    expect((await jobsOf(job)).map(({ id }) => id)).toEqual([first?.id]);
    expect((await jobsOf(job))[0]?.conclusion).not.toBe('CANCELLED');
  });

  it('leaves a run out while the former one is under way, or cancels the former one', async () => {
    await hub.disconnect('a');
    const waiting = { tool: VOLUME, arguments: { volume: 20 }, devices: { ids: ['a'] } };
    const skipping = await created({ job: waiting });
    const cancelling = await created({ job: waiting, overlap: 'CANCEL_PREVIOUS' });
    await whenDue(skipping);
    await runs.runDue();
    await whenDue(skipping);
    await runs.runDue();
    expect(await jobsOf(skipping)).toHaveLength(1);
    await expect.poll(() => eventsOf(skipping)).toEqual(['recurring_job.skipped']);
    const [second, first] = await jobsOf(cancelling);
    expect(second?.state).not.toBe('FINISHED');
    if (first !== undefined) expect(await hub.finished(first.id)).toMatchObject({ conclusion: 'CANCELLED' });
    expect(await hub.fleet.runRecurringJob(skipping.id, actor)).toMatchObject({ refusal: { code: 'CONFLICT' } });
    for (const job of [skipping, cancelling]) await hub.fleet.deleteRecurringJob(job.id, actor);
    expect(await jobsOf(skipping)).toHaveLength(1);
    await hub.connect(['a'], boardTools);
  });

  it.each([
    ['SKIP', 0, ['recurring_job.skipped']],
    ['RUN_ONCE', 1, []],
  ] as const)('that missed runs while no worker ran, with %s, runs %i times', async (missed, count, events) => {
    const job = await created({ missed });
    await whenDue(job, 5 * HOUR);
    await runs.runDue();
    await runs.runDue();
    expect(await jobsOf(job)).toHaveLength(count);
    await expect.poll(() => eventsOf(job)).toEqual(events);
  });

  it('is paused when its key is revoked, until it is saved again', async () => {
    const job = await created();
    await hub.registry.apiKeys.revoke(keyId, { at: hub.clock.now(), by: { actor: 'spec' } });
    await whenDue(job);
    await Promise.all([runs.runDue(), openRuns().runDue()]);
    expect(await jobsOf(job)).toEqual([]);
    expect(await found(job.id)).toMatchObject({
      enabled: false,
      nextRunAt: undefined,
      pausedReason: 'The key "scheduler" that saved it is not valid any more.',
    });
    await expect.poll(() => eventsOf(job)).toEqual(['recurring_job.paused']);
    const other = await makeKey(['JOBS_WRITE', 'TOOLS_CALL']);
    await hub.fleet.updateRecurringJob(job.id, requestOf({ name: job.name }), other.actor);
    expect(await found(job.id)).toMatchObject({ enabled: true, pausedReason: undefined });
    await whenDue(job);
    await runs.runDue();
    expect(await jobsOf(job)).toHaveLength(1);
  });

  it('ends at its end, and reports a run that was refused', async () => {
    const job = await created({ until: hub.clock.now() + 1.5 * HOUR });
    await whenDue(job);
    await runs.runDue();
    expect(await found(job.id)).toMatchObject({ nextRunAt: undefined, enabled: true });
    const group = await hub.fleet.createDeviceGroup(
      { name: randomUUID(), filter: { ids: ['a'] }, timeZone: undefined, voiceUrl: undefined },
      actor,
    );
    const id = 'group' in group ? group.group.id : '';
    const grouped = await created({ job: { tool: VOLUME, arguments: { volume: 20 }, devices: { groupId: id } } });
    await hub.fleet.deleteDeviceGroup(id, actor);
    await whenDue(grouped);
    await runs.runDue();
    await expect.poll(() => eventsOf(grouped)).toEqual(['recurring_job.failed']);
    expect((await found(grouped.id))?.nextRunAt).toBeGreaterThan(hub.clock.now());
  });

  it('keeps secret arguments sealed, and through an edit that sends the masked ones back', async () => {
    const tool = 'self.wifi.set';
    const secret = { ssid: 'shop', password: 'swordfish' };
    await hub.connect(
      ['c'],
      boardTools.slice(0, 1).map((each) => ({
        ...each,
        name: tool,
        inputSchema: { type: 'object', properties: { ssid: { type: 'string' }, password: { type: 'string' } } },
      })),
    );
    const job = await created({ job: { tool, arguments: secret, devices: { ids: ['c'] } } });
    expect(JSON.stringify(await found(job.id))).not.toContain('swordfish');
    const shown = { tool, arguments: job.request.arguments ?? {}, devices: { ids: ['c'] } };
    await hub.fleet.updateRecurringJob(job.id, requestOf({ name: job.name, job: shown }), actor);
    expect(await hub.registry.recurringJobs.requestOf(job.id)).toMatchObject({ arguments: secret });
    hub.gateway.seen.splice(0);
    const { job: run, refusal } = await hub.fleet.runRecurringJob(job.id, actor);
    expect(refusal).toBeUndefined();
    if (run !== undefined) await hub.finished(run.id);
    expect(hub.gateway.seen.map(({ call }) => call.arguments)).toEqual([secret]);
    const changed = { ...shown, arguments: { ...shown.arguments, ssid: 'office' } };
    expect(
      await hub.fleet.updateRecurringJob(job.id, requestOf({ name: job.name, job: changed }), actor),
    ).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'job', 'arguments'] } });
    const other = (await makeKey(['JOBS_WRITE', 'TOOLS_CALL'])).actor;
    const elsewhere = requestOf({ name: job.name, job: { ...shown, devices: { ids: ['a'] } } });
    const refused = { refusal: { code: 'INVALID', path: ['input', 'job', 'devices'] } };
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, other)).toMatchObject(refused);
    const sameDevices = requestOf({ name: job.name, job: shown });
    expect(await hub.fleet.updateRecurringJob(job.id, sameDevices, other)).not.toHaveProperty('refusal');
    expect(await hub.registry.recurringJobs.requestOf(job.id)).toMatchObject({ arguments: secret });
    expect(await found(job.id)).toMatchObject({ savedById: other.id, secretsById: actor.id });
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, other)).toMatchObject(refused);
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, actor)).not.toHaveProperty('refusal');
    const entered = requestOf({ name: job.name, job: { ...shown, arguments: secret } });
    expect(await hub.fleet.updateRecurringJob(job.id, entered, other)).toMatchObject({
      job: { secretsById: other.id },
    });
  });

  it('that an older version stored with masks is paused, and names the argument to enter again', async () => {
    const tool = 'self.wifi.set';
    const job = await created({ job: { tool, arguments: { ssid: 'shop' }, devices: { ids: ['c'] } } });
    const masked = { ...job.request, arguments: { ssid: 'shop', password: '***' } };
    await hub.registry.recurringJobs.update(
      { ...job, request: masked },
      { at: hub.clock.now(), by: { actor: 'spec' } },
    );
    const message = expect.stringMatching(/^The argument "password" .* Edit the recurring job/) as string;
    expect(await hub.fleet.runRecurringJob(job.id, actor)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['id'], message },
    });
    await whenDue(job);
    await runs.runDue();
    expect(await found(job.id)).toMatchObject({ enabled: false, pausedReason: message });
    await expect.poll(() => eventsOf(job)).toEqual(['recurring_job.paused']);
    const whole = { tool, arguments: { ssid: 'shop', password: 'swordfish' }, devices: { ids: ['c'] } };
    await hub.fleet.updateRecurringJob(job.id, requestOf({ name: job.name, job: whole }), actor);
    expect(await found(job.id)).toMatchObject({ enabled: true, pausedReason: undefined });
  });

  it('that has to be paused does not cancel its former run first', async () => {
    await hub.disconnect('c');
    const job = await created({
      overlap: 'CANCEL_PREVIOUS',
      job: { tool: 'self.wifi.set', arguments: { ssid: 'shop' }, devices: { ids: ['c'] } },
    });
    await whenDue(job);
    await runs.runDue();
    const masked = { ...job.request, arguments: { ssid: 'shop', password: '***' } };
    const change = { at: hub.clock.now(), by: { actor: 'spec' } };
    await hub.registry.recurringJobs.update({ ...((await found(job.id)) ?? job), request: masked }, change);
    await whenDue(job);
    await runs.runDue();
    expect(await found(job.id)).toMatchObject({ enabled: false });
    const [former, ...others] = await jobsOf(job);
    expect(others).toEqual([]);
    expect([former?.state, former?.conclusion]).toEqual(['RUNNING', undefined]);
    await hub.connect(['c'], boardTools);
  });

  it('of a narrowed key is limited to its devices, and hidden from other narrowed keys', async () => {
    const narrowed = { ...actor, devices: { ids: ['b'] } };
    const saved = await hub.fleet.createRecurringJob(requestOf(), randomUUID(), narrowed);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    const { job } = await hub.fleet.runRecurringJob(saved.job.id, narrowed);
    if (job !== undefined) expect(await hub.finished(job.id)).toMatchObject({ total: 1 });
    const stranger = { ...narrowed, id: `KEY:${randomUUID()}` };
    const hidden = { refusal: { code: 'NOT_FOUND', path: ['id'] } };
    expect(await hub.fleet.runRecurringJob(saved.job.id, stranger)).toMatchObject(hidden);
    expect(await hub.fleet.updateRecurringJob(saved.job.id, requestOf(), stranger)).toMatchObject(hidden);
    expect(await hub.fleet.deleteRecurringJob(saved.job.id, stranger)).toMatchObject(hidden);
    await hub.fleet.updateRecurringJob(saved.job.id, requestOf({ name: saved.job.name }), actor);
    await hub.fleet.updateRecurringJob(saved.job.id, requestOf({ name: saved.job.name }), (await makeKey([])).actor);
    expect(await hub.fleet.runRecurringJob(saved.job.id, narrowed)).toMatchObject(hidden);
  });

  it('of a narrowed key stays narrowed when another person edits it with the filter that is shown', async () => {
    const narrowed = { ...actor, devices: { ids: ['b'] } };
    const saved = await hub.fleet.createRecurringJob(requestOf(), randomUUID(), narrowed);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    const { id, name, request } = saved.job;
    const edited = requestOf({ name, cron: '30 * * * *' });
    expect(await hub.fleet.updateRecurringJob(id, edited, actor)).toMatchObject({
      job: { cron: '30 * * * *', request: { devices: request.devices } },
    });
  });

  it.each<[string, Partial<RecurringJobRequest>, string, readonly string[]]>([
    ['an empty name', { name: ' ' }, 'INVALID', ['input', 'name']],
    ['a cron expression in another form', { cron: 'every day' }, 'INVALID', ['input', 'cron']],
    ['a long one', { cron: '*'.repeat(300) }, 'LIMIT_EXCEEDED', ['input', 'cron']],
    ['an unknown zone', { timeZone: 'Mars/Base' }, 'INVALID', ['input', 'timeZone']],
    ['an end in the past', { until: 1 }, 'INVALID', ['input', 'until']],
    [
      'a start',
      { job: { tool: VOLUME, arguments: {}, devices: { all: true }, startAt: Date.now() } },
      'INVALID',
      ['input', 'job', 'startAt'],
    ],
    [
      'an unknown group',
      { job: { tool: VOLUME, arguments: {}, devices: { groupId: randomUUID() } } },
      'NOT_FOUND',
      ['input', 'job', 'devices'],
    ],
    [
      'a mask in place of a secret',
      { job: { tool: 'self.wifi.set', arguments: { password: '***' }, devices: { all: true } } },
      'INVALID',
      ['input', 'job', 'arguments'],
    ],
    [
      'a pace of nothing',
      { job: { tool: VOLUME, arguments: {}, devices: { all: true }, perMinute: 0 } },
      'INVALID',
      ['input', 'job', 'perMinute'],
    ],
  ])('is refused with %s', async (_what, change, code, path) => {
    const answer = await hub.fleet.createRecurringJob(requestOf(change), randomUUID(), actor);
    expect(answer).toMatchObject({ refusal: { code, path } });
  });

  it('names itself in the refusal of a run, which has no input', async () => {
    const restart = { job: { tool: 'self.reboot', arguments: {}, devices: { ids: ['a'] } } };
    const job = await created(restart, { ...actor, mayCallUserOnly: true });
    expect(await hub.fleet.runRecurringJob(job.id, actor)).toMatchObject({
      refusal: { code: 'TOOL_FORBIDDEN', path: ['id'] },
    });
  });

  it('is created once for a repeated request, and has a name that no other has', async () => {
    const [request, key] = [requestOf(), randomUUID()];
    const first = await hub.fleet.createRecurringJob(request, key, actor);
    expect(await hub.fleet.createRecurringJob(request, key, actor)).toEqual(first);
    const other = { ...request, cron: '@daily' };
    expect(await hub.fleet.createRecurringJob(other, key, actor)).toMatchObject({
      refusal: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect(await hub.fleet.createRecurringJob(request, randomUUID(), actor)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['input', 'name'] },
    });
  });
});
