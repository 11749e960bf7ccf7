/** Which requests for recurring jobs are accepted, and whose devices they reach. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import type { HubProcess } from '../fleet-fixture.suite.js';
import { RecurringFixture, requestOf, VOLUME, volumeOf } from './recurring-fixture.suite.js';
import { mayChangeRecurringJob } from './recurring-jobs.js';
import type { RecurringJobRequest } from './recurring-request.js';

describe('a recurring job', () => {
  let fixture: RecurringFixture;
  let hub: HubProcess;
  let actor: Actor;

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['a', 'b']);
    hub = fixture.hub;
  });
  beforeEach(async () => {
    actor = await fixture.owner();
  });
  afterAll(() => fixture.close());

  const ofBoth = (change: Partial<RecurringJobRequest> = {}) =>
    requestOf({ job: volumeOf({ ids: ['a', 'b'] }), ...change });
  const created = (change: Partial<RecurringJobRequest> = {}, by = actor) => fixture.created(ofBoth(change), by);

  it('is previewed with its next times and the devices of a run, and is not stored', async () => {
    const count = await hub.registry.recurringJobs.count();
    const preview = await hub.fleet.previewRecurringJob(ofBoth({ cron: '0 9 * * *' }), actor);
    if ('refusal' in preview) throw new TypeError(preview.refusal.message);
    expect(preview.job).toMatchObject({ targetCount: 2, onlineCount: 2, missingToolCount: 0 });
    expect(preview.nextRuns).toHaveLength(5);
    for (const at of preview.nextRuns) expect([new Date(at).getUTCHours(), at > hub.clock.now()]).toEqual([9, true]);
    expect(await hub.fleet.previewRecurringJob(ofBoth({ cron: 'at night' }), actor)).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', 'cron'] },
    });
    expect(await hub.registry.recurringJobs.count()).toBe(count);
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
    const answer = await hub.fleet.createRecurringJob(ofBoth(change), randomUUID(), actor);
    expect(answer).toMatchObject({ refusal: { code, path } });
  });

  it('is created once for a repeated request, and has a name that no other has', async () => {
    const [request, key] = [ofBoth(), randomUUID()];
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

  it('names itself in the refusal of a run, which has no input', async () => {
    const restart = { job: { tool: 'self.reboot', arguments: {}, devices: { ids: ['a'] } } };
    const job = await created(restart, { ...actor, mayCallUserOnly: true });
    expect(await hub.fleet.runRecurringJob(job.id, actor)).toMatchObject({
      refusal: { code: 'TOOL_FORBIDDEN', path: ['id'] },
    });
  });

  it('is run by those who have the scopes for its tool, of which the first missing one is named', async () => {
    const restart = { job: { tool: 'self.reboot', arguments: {}, devices: { ids: ['a'] } } };
    const byTool = new Map([
      ['self.reboot', await created(restart, { ...actor, mayCallUserOnly: true })],
      [VOLUME, await created()],
    ]);
    const missing = async (tool: string, by: Actor) => {
      const run = await hub.fleet
        .runRecurringJob(byTool.get(tool)?.id ?? '', by)
        .catch((error: unknown) => ({ refusal: error }));
      return [await hub.fleet.scopeToCall(tool, by), run.refusal !== undefined];
    };
    expect(await missing(VOLUME, actor)).toEqual([undefined, false]);
    expect(await missing(VOLUME, { ...actor, mayCallTools: false })).toEqual(['TOOLS_CALL', true]);
    expect(await missing('self.reboot', actor)).toEqual(['TOOLS_CALL_PRIVILEGED', true]);
    expect(await missing('self.reboot', { ...actor, mayCallUserOnly: true })).toEqual([undefined, false]);
    const scopes = [false, true].flatMap((mayCallUserOnly) =>
      [false, true].map((mayChangeFirmware) =>
        hub.fleet.scopeToRollOut({ ...actor, mayCallUserOnly, mayChangeFirmware }),
      ),
    );
    const userOnly = 'TOOLS_CALL_PRIVILEGED';
    expect(scopes).toEqual([userOnly, userOnly, 'FIRMWARE_WRITE', undefined]);
  });

  it('of a narrowed key is limited to its devices, and hidden from other narrowed keys', async () => {
    const narrowed = { ...actor, devices: { ids: ['b'] } };
    const saved = await hub.fleet.createRecurringJob(ofBoth(), randomUUID(), narrowed);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    const { job } = await hub.fleet.runRecurringJob(saved.job.id, narrowed);
    if (job !== undefined) expect(await hub.finished(job.id)).toMatchObject({ total: 1 });
    const stranger = { ...narrowed, id: `KEY:${randomUUID()}` };
    const hidden = { refusal: { code: 'NOT_FOUND', path: ['id'] } };
    expect(await hub.fleet.runRecurringJob(saved.job.id, stranger)).toMatchObject(hidden);
    expect(await hub.fleet.updateRecurringJob(saved.job.id, ofBoth(), stranger)).toMatchObject(hidden);
    expect(await hub.fleet.deleteRecurringJob(saved.job.id, stranger)).toMatchObject(hidden);
    const mayChange = [narrowed, stranger, actor].map((each) => mayChangeRecurringJob(saved.job, each));
    expect(mayChange).toEqual([true, false, true]);
    await hub.fleet.updateRecurringJob(saved.job.id, ofBoth({ name: saved.job.name }), actor);
    await hub.fleet.updateRecurringJob(
      saved.job.id,
      ofBoth({ name: saved.job.name }),
      await fixture.owner(undefined, []),
    );
    const refused = { refusal: { code: 'CONFLICT', path: ['id'], message: expect.stringMatching(/^Another person/) } };
    expect(await hub.fleet.runRecurringJob(saved.job.id, narrowed)).toMatchObject(refused);
    expect(await hub.fleet.updateRecurringJob(saved.job.id, ofBoth(), narrowed)).toMatchObject(refused);
    expect(await hub.fleet.deleteRecurringJob(saved.job.id, narrowed)).toMatchObject(refused);
    const savedByOther = await hub.registry.recurringJobs.find(saved.job.id);
    expect(savedByOther && mayChangeRecurringJob(savedByOther, narrowed)).toBe(false);
  });

  it('of a narrowed key stays narrowed when another person edits it with the filter that is shown', async () => {
    const narrowed = { ...actor, devices: { ids: ['b'] } };
    const saved = await hub.fleet.createRecurringJob(ofBoth(), randomUUID(), narrowed);
    if ('refusal' in saved) throw new TypeError(saved.refusal.message);
    const { id, name, request } = saved.job;
    const edited = ofBoth({ name, cron: '30 * * * *' });
    expect(await hub.fleet.updateRecurringJob(id, edited, actor)).toMatchObject({
      job: { cron: '30 * * * *', request: { devices: request.devices } },
    });
  });
});
