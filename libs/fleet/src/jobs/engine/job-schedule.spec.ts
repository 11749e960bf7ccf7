import { randomUUID } from 'node:crypto';
import { defaultToolPolicy } from '@flotilla/jobs';
import type { JobState } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallRules } from '../../calls/call-rules.js';
import { admin, openHub, operator, silent } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';
import { Fleet } from '../../fleet.js';
import { RolloutFixture } from '../../rollout/rollout-fixture.suite.js';
import type { JobRequest } from '../commands/job-request.js';

const hourMs = 3_600_000;
const hhmm = (at: number): string => new Date(at).toISOString().slice(11, 16);

describe('a job and the clock', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let careful: Fleet;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    const approvals = { mode: 'on', callDevicesMax: 10 } as const;
    careful = new Fleet({ ...hub, logger: silent, callRules: new CallRules([]), approvals });
    await hub.connect(['board']);
  });
  afterAll(() => fixture.close());

  const make = async (change: Partial<JobRequest>, fleet: Fleet = hub.fleet, actor = admin): Promise<JobId> => {
    const request = { tool: 'self.lamp.turn_on', arguments: {}, devices: { all: true }, ...change };
    const { job, refusal } = await fleet.createJob(request, randomUUID(), actor);
    if (job === undefined) throw new TypeError(`Refused: ${refusal?.message}`);
    return job.id;
  };
  const becomes = (id: JobId, state: JobState) => hub.clock.until(async () => (await hub.job(id)).state).toBe(state);
  const actions = async (id: JobId) => {
    const { rows } = await hub.registry.audit.page({ subject: `job:${id}` }, { first: 50 });
    return rows.map(({ action, actor }) => `${action} ${actor}`).reverse();
  };

  it('starts when it was asked to, and lives from then on', async () => {
    const startAt = hub.clock.now() + hourMs;
    const id = await make({ startAt, expiresInSeconds: 60 });
    expect(await hub.job(id)).toMatchObject({ state: 'SCHEDULED', startAt, expiresAt: startAt + 60_000 });
    await hub.clock.pass(1_200);
    expect((await hub.job(id)).state).toBe('SCHEDULED');
    hub.clock.advance(hourMs);
    expect((await hub.finished(id)).conclusion).toBe('SUCCEEDED');
    expect(await actions(id)).toEqual(['job.created admin', 'job.started hub', 'job.prepared hub', 'job.finished hub']);
    const eventsOfJob = async () => {
      const types = ['job.created', 'job.started', 'job.prepared', 'job.finished'];
      const { rows } = await hub.registry.events.page({ types }, 'AT_ASC', { first: 50 });
      return rows.filter(({ data }) => data['jobId'] === id).map(({ type }) => type);
    };
    await hub.clock.until(eventsOfJob).toEqual(['job.created', 'job.started', 'job.prepared', 'job.finished']);
  });

  it('ends cancelled or expired before its start with nothing made', async () => {
    const cancelled = await make({ startAt: hub.clock.now() + hourMs });
    await hub.fleet.cancelJob(cancelled, false, operator);
    expect(await hub.finished(cancelled)).toMatchObject({ conclusion: 'CANCELLED', total: undefined });
    const waiting = await make({ tool: 'self.reboot', expiresInSeconds: 600 }, careful);
    hub.clock.advance(hourMs);
    expect(await hub.finished(waiting)).toMatchObject({ conclusion: 'EXPIRED', total: undefined });
  });

  it('waits where it was paused before a worker knew its devices, and expires without them', async () => {
    const other = await openHub({ withWorker: false });
    const { clock, fleet, worker } = other.hub;
    await other.hub.connect(['board']);
    const paused = await make({}, fleet);
    const late = await make({ expiresInSeconds: 60 }, fleet);
    await fleet.pauseJob(paused, operator);
    clock.advance(61_000);
    await worker.start();
    expect(await other.hub.finished(late)).toMatchObject({ conclusion: 'EXPIRED', total: undefined });
    await clock.pass(5_000);
    expect((await other.hub.job(paused)).state).toBe('PAUSED');
    await fleet.resumeJob(paused, operator);
    expect(await other.hub.finished(paused)).toMatchObject({ conclusion: 'SUCCEEDED', total: 1 });
    await other.close();
  });

  it('sends nothing outside its window, and goes on by itself when it opens', async () => {
    const from = hub.clock.now() + 2 * hourMs;
    const window = { from: hhmm(from), to: hhmm(from + hourMs), zone: 'UTC' };
    const before = hub.gateway.callCount;
    const id = await make({ window });
    await becomes(id, 'PAUSED');
    expect(await hub.job(id)).toMatchObject({ pauseReason: 'WINDOW_CLOSED', total: 1 });
    expect(hub.gateway.callCount).toBe(before);
    hub.clock.advance(2 * hourMs + 60_000);
    expect((await hub.finished(id)).conclusion).toBe('SUCCEEDED');
    expect(hub.gateway.callCount).toBe(before + 1);
  });

  it('stays paused in its window if an operator paused it, and pauses again when resumed too early', async () => {
    const from = hub.clock.now() + 2 * hourMs;
    const id = await make({ window: { from: hhmm(from), to: hhmm(from + hourMs), zone: 'UTC' } });
    await becomes(id, 'PAUSED');
    expect((await hub.fleet.resumeJob(id, admin)).job?.state).toBe('RUNNING');
    await becomes(id, 'PAUSED');
    expect((await hub.fleet.pauseJob(id, operator)).job).toMatchObject({ state: 'PAUSED', pauseReason: 'USER' });
    hub.clock.advance(2 * hourMs + 60_000);
    await hub.clock.pass(1_200);
    expect(await hub.job(id)).toMatchObject({ state: 'PAUSED', pauseReason: 'USER' });
    await hub.fleet.cancelJob(id, false, admin);
    await hub.finished(id);
  });

  it('waits for a second key where its tool is disruptive', async () => {
    const before = hub.gateway.callCount;
    const id = await make({ tool: 'self.reboot' }, careful);
    expect((await hub.job(id)).state).toBe('AWAITING_APPROVAL');
    expect((await careful.approveJob(id, admin)).refusal?.code).toBe('CONFLICT');
    expect((await careful.denyJob(id, 'no', admin)).refusal?.code).toBe('CONFLICT');
    expect((await careful.approveJob(id, operator)).refusal?.code).toBe('TOOL_FORBIDDEN');
    expect((await careful.approveJob(randomUUID(), operator)).refusal?.code).toBe('NOT_FOUND');
    expect(hub.gateway.callCount).toBe(before);
    const second = { ...admin, id: 'KEY:second', name: 'second' };
    expect((await careful.approveJob(id, second)).job).toMatchObject({ state: 'PREPARING', approvedBy: 'second' });
    expect((await careful.approveJob(id, second)).job?.approvedBy).toBe('second');
    expect((await careful.denyJob(id, 'too late', second)).refusal?.code).toBe('CONFLICT');
    await hub.finished(id);
    expect((await actions(id)).slice(0, 2)).toEqual(['job.created admin', 'job.approved second']);
    expect(await make({}, careful).then((ordinary) => hub.finished(ordinary))).toMatchObject({ approvedBy: undefined });
  });

  it('ends denied with the reason on the audit trail', async () => {
    const id = await make({ tool: 'self.reboot', startAt: hub.clock.now() + hourMs }, careful);
    expect((await careful.denyJob(id, ' ', operator)).refusal?.code).toBe('INVALID');
    const denied = { state: 'FINISHED', conclusion: 'DENIED' };
    expect((await careful.denyJob(id, 'not today', operator)).job).toMatchObject(denied);
    expect((await careful.denyJob(id, 'not today', operator)).job).toMatchObject(denied);
    expect((await careful.approveJob(id, { ...admin, id: 'KEY:second', name: 'second' })).refusal?.code).toBe(
      'CONFLICT',
    );
    const { rows } = await hub.registry.audit.page({ subject: `job:${id}` }, { first: 1 });
    expect(rows).toMatchObject([{ action: 'job.denied', actor: 'operator', data: { reason: 'not today' } }]);
  });

  it('is required for a roll-out, also where the policy of its tool needs none', async () => {
    const upgrade = { ...defaultToolPolicy, pattern: 'self.upgrade_firmware' };
    await hub.fleet.setToolPolicy(upgrade, admin);
    const { id: firmwareImageId } = await new RolloutFixture(hub).published('3.0.0');
    const { job } = await careful.createJob({ firmwareImageId, devices: { all: true } }, randomUUID(), admin);
    expect(job).toMatchObject({
      state: 'AWAITING_APPROVAL',
      disruptive: true,
      verification: 'FIRMWARE',
      abortRules: [{ ratio: 0.1 }],
    });
    await careful.cancelJob(job?.id ?? '', false, admin);
    await hub.fleet.deleteToolPolicy(upgrade.pattern, admin);
  });

  it('waits for its start after it was approved', async () => {
    const id = await make({ tool: 'self.reboot', startAt: hub.clock.now() + hourMs }, careful);
    expect((await careful.approveJob(id, { ...admin, id: 'KEY:second', name: 'second' })).job?.state).toBe('SCHEDULED');
    hub.clock.advance(hourMs);
    expect((await hub.finished(id)).approvedBy).toBe('second');
  });
});
