import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobRequest } from './job-request.js';
import { admin, openHub, operator, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const lampJob = (change: Partial<JobRequest> = {}): JobRequest => ({
  tool: 'self.lamp.turn_on',
  arguments: {},
  devices: { all: true },
  ...change,
});

/** No worker runs here: what is said of a job is what its row says. */
describe('making and steering jobs', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['board']);
  });
  afterAll(() => fixture.close());

  it('freezes what the tool policy says and fills in the defaults', async () => {
    const { job } = await hub.fleet.createJob(lampJob({ tool: 'self.screen.set_theme' }), randomUUID(), operator);
    expect(job).toMatchObject({
      state: 'PREPARING',
      idempotent: true,
      failureText: 'false',
      callTimeoutMs: 60_000,
      maxInFlight: 200,
      offline: 'WAIT',
      createdBy: 'operator',
      mayCallUserOnly: false,
      total: undefined,
      conclusion: undefined,
    });
    expect((job?.expiresAt ?? 0) - (job?.createdAt ?? 0)).toBe(86_400_000);
  });

  it('makes one job per key, and refuses the key for another request', async () => {
    const key = randomUUID();
    const first = await hub.fleet.createJob(lampJob(), key, operator);
    const reordered = { devices: { all: true }, arguments: {}, tool: 'self.lamp.turn_on' };
    expect((await hub.fleet.createJob(reordered, key, operator)).job?.id).toBe(first.job?.id);
    expect((await hub.fleet.createJob(lampJob({ maxInFlight: 3 }), key, operator)).refusal?.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
  });

  it.each<[string, Partial<JobRequest>, string, readonly string[]]>([
    ['an empty filter', { devices: {} }, 'INVALID', ['input', 'devices']],
    ['no tool', { tool: '' }, 'INVALID', ['input', 'tool']],
    ['no slots', { maxInFlight: 0 }, 'INVALID', ['input', 'maxInFlight']],
    ['too many slots', { maxInFlight: 10_001 }, 'LIMIT_EXCEEDED', ['input', 'maxInFlight']],
    ['a life beyond 30 days', { expiresInSeconds: 2_592_001 }, 'LIMIT_EXCEEDED', ['input', 'expiresInSeconds']],
    ['a time-out below a second', { callTimeoutMs: 999 }, 'INVALID', ['input', 'callTimeoutMs']],
    ['a skip where nothing says what to read', { skipIfSatisfied: true }, 'INVALID', ['input', 'skipIfSatisfied']],
    ['huge arguments', { arguments: { text: 'x'.repeat(17_000) } }, 'REQUEST_TOO_LARGE', ['input', 'arguments']],
    ['a mask in place of a secret', { arguments: { password: '***' } }, 'INVALID', ['input', 'arguments']],
    [
      'a URL that is not allowed',
      { tool: 'self.upgrade_firmware', arguments: { url: 'https://evil.example/' } },
      'URL_FORBIDDEN',
      ['input', 'arguments'],
    ],
  ])('refuses %s and makes nothing', async (_, change, code, path) => {
    const before = await hub.registry.jobs.liveCount();
    const { job, refusal } = await hub.fleet.createJob(lampJob(change), randomUUID(), admin);
    expect(job).toBeUndefined();
    expect(refusal).toMatchObject({ code, path });
    expect(await hub.registry.jobs.liveCount()).toBe(before);
  });

  it('refuses at once what no device would let this actor call', async () => {
    expect((await hub.fleet.createJob(lampJob({ tool: 'self.reboot' }), randomUUID(), operator)).refusal?.code).toBe(
      'TOOL_FORBIDDEN',
    );
    expect((await hub.fleet.createJob(lampJob({ tool: 'self.reboot' }), randomUUID(), admin)).job?.state).toBe(
      'PREPARING',
    );
  });

  it('pausing twice, resuming twice and cancelling twice change nothing the second time', async () => {
    const id = await startJob(hub, ['board']);
    for (const act of [
      () => hub.fleet.pauseJob(id, admin),
      () => hub.fleet.resumeJob(id, admin),
      () => hub.fleet.cancelJob(id, false, admin),
      () => hub.fleet.cancelJob(id, true, admin),
    ]) {
      const first = await act();
      expect(first.job).toBeDefined();
      expect(await act()).toEqual(first);
    }
    // A softer cancel does not take back a forced one.
    expect((await hub.fleet.cancelJob(id, false, admin)).job).toMatchObject({
      state: 'CANCELLING',
      pauseReason: undefined,
      isCancelForced: true,
    });
    expect((await hub.fleet.pauseJob(id, admin)).job?.state).toBe('CANCELLING');
  });

  it('refuses to pause a job that has not begun, which would begin anyway', async () => {
    const startAt = hub.clock.now() + 3_600_000;
    const { job } = await hub.fleet.createJob(lampJob({ startAt }), randomUUID(), admin);
    const id = job?.id ?? '';
    expect((await hub.fleet.pauseJob(id, admin)).refusal).toMatchObject({ code: 'CONFLICT', path: ['id'] });
    expect(await hub.job(id as never)).toMatchObject({ state: 'SCHEDULED', version: job?.version });
    expect((await hub.fleet.cancelJob(id, false, admin)).job?.state).toBe('CANCELLING');
  });

  it('resumes preparing a job that was paused before its targets were counted', async () => {
    const id = await startJob(hub, ['board']);
    await hub.fleet.pauseJob(id, admin);
    expect((await hub.fleet.resumeJob(id, admin)).job?.state).toBe('PREPARING');
  });

  it('lets one of many concurrent requests win, and returns the resulting job to the others', async () => {
    const id = await startJob(hub, ['board']);
    const answers = await Promise.all(Array.from({ length: 8 }, () => hub.fleet.cancelJob(id, false, admin)));
    expect(new Set(answers.map(({ job }) => job?.version))).toEqual(new Set([2]));
  });

  it('knows no job of a made-up id', async () => {
    for (const id of [randomUUID(), 'no uuid']) {
      const { fleet } = hub;
      const acts = [fleet.pauseJob(id, admin), fleet.resumeJob(id, admin), fleet.cancelJob(id, false, admin)];
      for (const { refusal } of await Promise.all(acts)) expect(refusal?.code).toBe('NOT_FOUND');
    }
  });

  it('asks a connected device for its tools, and says why not another', async () => {
    expect(await hub.fleet.refreshTools('board', operator)).toEqual({});
    expect((await hub.fleet.refreshTools('no-such-device', operator)).refusal?.code).toBe('NOT_FOUND');
    await hub.disconnect('board');
    expect((await hub.fleet.refreshTools('board', operator)).refusal?.code).toBe('DEVICE_OFFLINE');
  });
});
