import { randomUUID } from 'node:crypto';
import { defaultToolPolicy, withHubTools } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { policyRevision } from './set-tool-policy.js';

const lamp = (change: Partial<ToolPolicy> = {}): ToolPolicy => ({
  ...defaultToolPolicy,
  pattern: 'self.lamp.turn_on',
  ...change,
});

describe('setting tool policies', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['board']);
  });
  afterAll(() => fixture.close());

  const call = () => hub.fleet.callTool({ deviceId: 'board', tool: 'self.lamp.turn_on', arguments: {} }, admin);
  const job = async (key: string) =>
    (await hub.fleet.createJob({ tool: 'self.lamp.turn_on', arguments: {}, devices: { all: true } }, key, admin)).job;

  it('applies to the next call and job, and not to existing jobs', async () => {
    expect((await call()).call?.outcome).toBe('SUCCEEDED');
    const before = await job('before');
    await hub.fleet.setToolPolicy(lamp({ failureText: 'true', idempotent: true, disruptive: true }), admin);
    expect((await call()).call).toMatchObject({ outcome: 'FAILED', error: { code: 'DEVICE_ERROR' } });
    expect(await job('after')).toMatchObject({ failureText: 'true', idempotent: true, disruptive: true });
    expect(await hub.job(before?.id ?? ('' as never))).toMatchObject({
      failureText: undefined,
      idempotent: false,
      disruptive: false,
    });
    await hub.fleet.deleteToolPolicy('self.lamp.turn_on', admin);
    expect((await call()).call?.outcome).toBe('SUCCEEDED');
  });

  it('is in the audit trail with its values, and so is a disruptive call', async () => {
    await hub.fleet.setToolPolicy(lamp({ disruptive: true }), admin);
    await call();
    const { rows } = await hub.registry.audit.page({ subject: 'policy:self.lamp.turn_on' }, { first: 1 });
    expect(rows).toMatchObject([
      { action: 'policy.set', actor: 'admin', data: { disruptive: true, callTimeoutMs: 60_000 } },
    ]);
    const calls = await hub.registry.audit.page({ subject: 'device:board' }, { first: 2 });
    expect(calls.rows.map(({ action }) => action)).toEqual(['call.ended', 'call.disruptive']);
  });

  it('reaches other processes by the feed', async () => {
    const heard: string[] = [];
    hub.bus.feed.subscribe('policy', ({ pattern }) => heard.push(pattern));
    await hub.fleet.setToolPolicy(lamp({ pattern: 'self.lamp.*' }), admin);
    await expect.poll(() => heard).toEqual(['self.lamp.*']);
  });

  it('refuses a change of another revision than it was made from', async () => {
    const read = lamp({ pattern: 'self.lamp.blink', callTimeoutMs: 5_000 });
    await hub.fleet.setToolPolicy(read, admin);
    const former = policyRevision(read);
    const edit = (callTimeoutMs: number) => hub.fleet.setToolPolicy({ ...read, callTimeoutMs }, admin, former);
    expect(await edit(6_000)).toMatchObject({ toolPolicy: { callTimeoutMs: 6_000 } });
    const conflict = { refusal: { code: 'CONFLICT', path: ['expectedRevision'] } };
    expect(await edit(7_000)).toMatchObject(conflict);
    await hub.fleet.deleteToolPolicy(read.pattern, admin);
    expect(await edit(7_000)).toMatchObject(conflict);
    expect((await hub.registry.toolPolicies.all()).map(({ pattern }) => pattern)).not.toContain(read.pattern);
  });

  it('creates a policy only where none has its pattern, with an empty revision', async () => {
    const blink = lamp({ pattern: 'self.lamp.fade', callTimeoutMs: 5_000 });
    expect(await hub.fleet.setToolPolicy(blink, admin, '')).toMatchObject({ toolPolicy: blink });
    const [added] = withHubTools([]);
    for (const taken of [{ ...blink, callTimeoutMs: 6_000 }, added ?? defaultToolPolicy])
      expect(await hub.fleet.setToolPolicy(taken, admin, '')).toMatchObject({
        refusal: { code: 'CONFLICT', path: ['input', 'pattern'], message: expect.stringContaining('already') },
      });
    expect(await hub.registry.toolPolicies.all()).toContainEqual(blink);
    await hub.fleet.deleteToolPolicy(blink.pattern, admin);
  });

  it('changes a policy that the hub adds, by its revision', async () => {
    const [added] = withHubTools([]);
    const change = { ...(added ?? defaultToolPolicy), callTimeoutMs: 7_000 };
    const revision = policyRevision(added ?? defaultToolPolicy);
    expect(await hub.fleet.setToolPolicy(change, admin, revision)).toMatchObject({ toolPolicy: change });
    await hub.fleet.deleteToolPolicy(change.pattern, admin);
  });

  it('is refused if it makes its own readback disrupt the device', async () => {
    const readback = { tool: 'self.motor.get_state', path: 'power', argument: 'power' };
    const policy = lamp({ pattern: 'self.motor.*', disruptive: true, readback });
    expect(await hub.fleet.setToolPolicy(policy, admin)).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', 'readback', 'tool'] },
    });
    const reads = lamp({ pattern: 'self.motor.get_state', readOnly: true });
    await hub.fleet.setToolPolicy(reads, admin);
    expect(await hub.fleet.setToolPolicy(policy, admin)).toMatchObject({ toolPolicy: policy });
    for (const pattern of ['self.motor.*', 'self.motor.get_state']) await hub.fleet.deleteToolPolicy(pattern, admin);
  });

  it('refuses contradictions, deletes existing policies, and is limited in number', async () => {
    const before = await hub.registry.toolPolicies.all();
    expect(await hub.fleet.setToolPolicy(lamp({ callTimeoutMs: 1 }), admin)).toMatchObject({
      refusal: { code: 'INVALID' },
    });
    const readback = { tool: 'self.reboot', path: 'a', argument: 'a' };
    expect(await hub.fleet.setToolPolicy(lamp({ readback }), admin)).toMatchObject({
      refusal: { code: 'INVALID', path: ['input', 'readback', 'tool'] },
    });
    expect(await hub.fleet.deleteToolPolicy(randomUUID(), admin)).toMatchObject({ refusal: { code: 'NOT_FOUND' } });
    const how = { policiesMax: before.length, at: hub.clock.now() };
    expect(await hub.registry.toolPolicies.set(lamp({ pattern: 'one.more' }), how)).toBe('FULL');
    expect(await hub.registry.toolPolicies.set(lamp({ pattern: 'self.lamp.*' }), how)).toBe('SET');
    expect(await hub.registry.toolPolicies.all()).toEqual(before);
  });
});
