import { randomUUID } from 'node:crypto';
import { defaultToolPolicy, rerunOffer } from '@flotilla/jobs';
import type { CallOutcome } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, answers, boardTools, deviceNames, openHub, operator, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const failure: CallOutcome = { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'broken' } };

describe('running a job again', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  const devices = deviceNames(12);

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    await hub.connect(devices);
  });
  afterAll(() => fixture.close());

  it('calls those that failed, once per key, with what was asked and the policy of now', async () => {
    await hub.fleet.setToolPolicy({ ...defaultToolPolicy, pattern: 'self.lamp.turn_on', failureText: 'false' }, admin);
    hub.gateway.behave = ({ deviceId }, settle) => settle(answers(deviceId < (devices[5] ?? '') ? 'false' : 'true'));
    const parent = await startJob(hub, devices, { name: 'lamps', maxInFlight: 3, expiresInSeconds: 600 });
    expect(await hub.finished(parent)).toMatchObject({ conclusion: 'PARTIAL' });
    expect(await hub.progress(parent)).toMatchObject({ failed: 5, succeeded: 7 });

    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.forget();
    await hub.fleet.setToolPolicy(
      { ...defaultToolPolicy, pattern: 'self.lamp.turn_on', callTimeoutMs: 5_000, idempotent: true },
      admin,
    );
    const key = randomUUID();
    const { job } = await hub.fleet.rerunJob(parent, { outcomes: ['FAILED', 'UNKNOWN'] }, key, operator);
    if (job === undefined) throw new TypeError('No job.');
    expect(job).toMatchObject({
      parentJobId: parent,
      name: 'lamps',
      maxInFlight: 3,
      createdBy: 'operator',
      idempotent: true,
    });
    expect(job.expiresAt - job.createdAt).toBe(600_000);
    await hub.finished(job.id);
    expect(await hub.progress(job.id)).toMatchObject({ total: 5, succeeded: 5 });
    expect([...hub.gateway.callsByDevice.keys()].sort()).toEqual(devices.slice(0, 5));
    expect((await hub.fleet.rerunJob(parent, { outcomes: ['UNKNOWN', 'FAILED'] }, key, operator)).job?.id).toBe(job.id);
    expect((await hub.fleet.rerunJob(parent, { outcomes: ['FAILED'] }, key, operator)).refusal?.code).toBe(
      'IDEMPOTENCY_KEY_REUSED',
    );
  });

  it('takes the default abort rules of a disruptive job with waves along', async () => {
    const pattern = 'self.lamp.turn_on';
    await hub.fleet.setToolPolicy({ ...defaultToolPolicy, pattern, disruptive: true }, admin);
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const waves = [{ count: 1, successThreshold: 0, soakSeconds: 0, gate: 'AUTO' as const }];
    const parent = await startJob(hub, devices.slice(0, 2), { waves });
    await hub.finished(parent);
    const answer = await hub.fleet.rerunJob(parent, { outcomes: ['SUCCEEDED'] }, randomUUID(), operator);
    expect(answer.refusal).toBeUndefined();
    if (answer.job !== undefined) await hub.finished(answer.job.id);
    await hub.fleet.deleteToolPolicy(pattern, admin);
  });

  it('is verified as the policy of now says, where that no longer offers what the job had', async () => {
    const lamp = { ...defaultToolPolicy, pattern: 'self.lamp.turn_on' };
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const again = async (parent: string) =>
      (await hub.fleet.rerunJob(parent, { outcomes: ['SUCCEEDED', 'UNKNOWN', 'CANCELLED'] }, randomUUID(), admin)).job;
    await hub.fleet.setToolPolicy(lamp, admin);
    const plain = await startJob(hub, devices.slice(0, 2));
    await hub.finished(plain);
    await hub.fleet.setToolPolicy({ ...lamp, disruptive: true, verification: 'REBOOT' }, admin);
    const verified = await again(plain);
    expect(verified).toMatchObject({ verification: 'REBOOT' });
    await hub.clock.until(() => hub.progress(verified?.id as never)).toMatchObject({ verifying: 2 });
    await hub.fleet.cancelJob(verified?.id ?? '', true, admin);
    await hub.finished(verified?.id as never);
    await hub.fleet.setToolPolicy(lamp, admin);
    expect(await again(verified?.id ?? '')).toMatchObject({ verification: 'NONE' });
  });

  it('leaves out what would fail again in the same way, and says how many that is', async () => {
    const mixed = ['mixed-0', 'mixed-1', 'bare-0'];
    await hub.connect(mixed.slice(0, 2));
    await hub.connect(mixed.slice(2), boardTools.slice(0, 1));
    hub.gateway.behave = (_, settle) => settle(failure);
    const parent = await startJob(hub, mixed, { tool: 'self.audio_speaker.set_volume', arguments: { volume: 5 } });
    await hub.finished(parent);
    expect(await hub.progress(parent)).toMatchObject({ failed: 2, rejected: 1 });
    const [failures] = await hub.registry.jobs.failureCodes([parent]);
    expect(rerunOffer(failures ?? [])).toEqual({ count: 2, leftOutCount: 1, exceptCodes: ['TOOL_UNKNOWN'] });
    const again = { outcomes: ['FAILED', 'REJECTED'], exceptCodes: ['TOOL_UNKNOWN'] } as const;
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const { job } = await hub.fleet.rerunJob(parent, again, randomUUID(), operator);
    if (job === undefined) throw new TypeError('No job.');
    await hub.finished(job.id);
    expect(await hub.progress(job.id)).toMatchObject({ total: 2, succeeded: 2 });
    const none = { outcomes: ['REJECTED'], exceptCodes: ['TOOL_UNKNOWN'] } as const;
    expect((await hub.fleet.rerunJob(parent, none, randomUUID(), operator)).refusal?.code).toBe('INVALID');
  });

  it('says why it does not', async () => {
    const refused = async (id: string, ...outcomes: Parameters<typeof hub.fleet.rerunJob>[1]['outcomes']) =>
      (await hub.fleet.rerunJob(id, { outcomes }, randomUUID(), operator)).refusal?.code;
    const done = await startJob(hub, devices);
    await hub.finished(done);
    expect(await refused(randomUUID(), 'FAILED')).toBe('NOT_FOUND');
    expect(await refused(done)).toBe('INVALID');
    expect(await refused(done, 'VERIFY_FAILED')).toBe('INVALID');
    const restart = await startJob(hub, ['no-such-device'], { tool: 'self.reboot' });
    await hub.finished(restart);
    expect(await refused(restart, 'SUCCEEDED')).toBe('TOOL_FORBIDDEN');
    await hub.disconnect(devices[0] ?? '');
    const live = await startJob(hub, [devices[0] ?? '']);
    expect(await refused(live, 'SUCCEEDED')).toBe('CONFLICT');
    await hub.fleet.cancelJob(live, false, admin);
  });

  it('names its own arguments in refusals of the new job', async () => {
    const set = { tool: 'self.audio_speaker.set_volume', arguments: { volume: 5 } };
    const parent = await startJob(hub, [...devices.slice(1), 'no-such-device'], set);
    await hub.finished(parent);
    const again = async (args: Readonly<Record<string, unknown>>) =>
      (await hub.fleet.rerunJob(parent, { outcomes: ['SUCCEEDED'], arguments: args }, randomUUID(), operator)).refusal;
    expect(await again({ password: '***' })).toMatchObject({ code: 'INVALID', path: ['arguments'] });
    expect(await again({ text: 'x'.repeat(17_000) })).toMatchObject({ code: 'REQUEST_TOO_LARGE', path: ['arguments'] });
    const restart = await startJob(hub, ['no-such-device'], { tool: 'self.reboot' });
    await hub.finished(restart);
    const { refusal } = await hub.fleet.rerunJob(restart, { outcomes: ['SUCCEEDED'] }, randomUUID(), operator);
    expect(refusal).toMatchObject({ code: 'TOOL_FORBIDDEN', path: ['id'] });
  });
});
