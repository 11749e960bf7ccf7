/** Secret arguments of recurring jobs: sealed in the database, and masked where they are shown. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { boardTools } from '../fleet-fixture.suite.js';
import type { HubProcess } from '../fleet-fixture.suite.js';
import { RecurringFixture, requestOf } from './recurring-fixture.suite.js';
import type { RecurringRuns } from './recurring-runs.js';

const tool = 'self.wifi.set';

describe('a recurring job', () => {
  let fixture: RecurringFixture;
  let hub: HubProcess;
  let runs: RecurringRuns;
  let actor: Actor;

  beforeAll(async () => {
    fixture = await RecurringFixture.open(['a']);
    hub = fixture.hub;
  });
  beforeEach(async () => {
    runs = fixture.runs();
    actor = await fixture.owner();
  });
  afterAll(() => fixture.close());

  it('keeps secret arguments sealed, and through an edit that sends the masked ones back', async () => {
    const secret = { ssid: 'shop', password: 'swordfish' };
    await hub.connect(
      ['c'],
      boardTools.slice(0, 1).map((each) => ({
        ...each,
        name: tool,
        inputSchema: { type: 'object', properties: { ssid: { type: 'string' }, password: { type: 'string' } } },
      })),
    );
    const job = await fixture.created({ job: { tool, arguments: secret, devices: { ids: ['c'] } } }, actor);
    expect(JSON.stringify(await fixture.found(job.id))).not.toContain('swordfish');
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
    const other = await fixture.owner();
    const elsewhere = requestOf({ name: job.name, job: { ...shown, devices: { ids: ['a'] } } });
    const refused = { refusal: { code: 'INVALID', path: ['input', 'job', 'devices'] } };
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, other)).toMatchObject(refused);
    const sameDevices = requestOf({ name: job.name, job: shown });
    expect(await hub.fleet.updateRecurringJob(job.id, sameDevices, other)).not.toHaveProperty('refusal');
    expect(await hub.registry.recurringJobs.requestOf(job.id)).toMatchObject({ arguments: secret });
    expect(await fixture.found(job.id)).toMatchObject({ savedById: other.id, secretsById: actor.id });
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, other)).toMatchObject(refused);
    expect(await hub.fleet.updateRecurringJob(job.id, elsewhere, actor)).not.toHaveProperty('refusal');
    const entered = requestOf({ name: job.name, job: { ...shown, arguments: secret } });
    expect(await hub.fleet.updateRecurringJob(job.id, entered, other)).toMatchObject({
      job: { secretsById: other.id },
    });
  });

  it('that an older version stored with masks is paused, and names the argument to enter again', async () => {
    const job = await fixture.created({ job: { tool, arguments: { ssid: 'shop' }, devices: { ids: ['c'] } } }, actor);
    const masked = { ...job.request, arguments: { ssid: 'shop', password: '***' } };
    await hub.registry.recurringJobs.update(
      { ...job, request: masked },
      { at: hub.clock.now(), by: { actor: 'spec' } },
    );
    const message = expect.stringMatching(/^The argument "password" .* Edit the recurring job/) as string;
    expect(await hub.fleet.runRecurringJob(job.id, actor)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['id'], message },
    });
    await fixture.whenDue(job);
    await runs.runDue();
    expect(await fixture.found(job.id)).toMatchObject({ enabled: false, pausedReason: message });
    await expect.poll(() => fixture.eventTypesOf(job)).toEqual(['recurring_job.paused']);
    const whole = { tool, arguments: { ssid: 'shop', password: 'swordfish' }, devices: { ids: ['c'] } };
    await hub.fleet.updateRecurringJob(job.id, requestOf({ name: job.name, job: whole }), actor);
    expect(await fixture.found(job.id)).toMatchObject({ enabled: true, pausedReason: undefined });
  });

  it('that has to be paused does not cancel its former run first', async () => {
    await hub.disconnect('c');
    const job = await fixture.created(
      { overlap: 'CANCEL_PREVIOUS', job: { tool, arguments: { ssid: 'shop' }, devices: { ids: ['c'] } } },
      actor,
    );
    await fixture.whenDue(job);
    await runs.runDue();
    await hub.clock.until(async () => (await fixture.jobsOf(job))[0]?.state).toBe('RUNNING');
    const masked = { ...job.request, arguments: { ssid: 'shop', password: '***' } };
    const change = { at: hub.clock.now(), by: { actor: 'spec' } };
    await hub.registry.recurringJobs.update({ ...(await fixture.found(job.id)), request: masked }, change);
    await fixture.whenDue(job);
    await runs.runDue();
    expect(await fixture.found(job.id)).toMatchObject({ enabled: false });
    const [former, ...others] = await fixture.jobsOf(job);
    expect(others).toEqual([]);
    expect([former?.state, former?.conclusion]).toEqual(['RUNNING', undefined]);
    await hub.connect(['c'], boardTools);
  });
});
