import { randomUUID } from 'node:crypto';
import type { JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { CallRules } from '../calls/call-rules.js';
import { admin, boardTools, deviceNames, openHub, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { Fleet } from '../fleet.js';
import { RolloutFixture } from '../rollout/rollout-fixture.suite.js';
import type { ApprovalMode } from './approval-rules.js';

const hourMs = 3_600_000;
const devices = deviceNames(4);
const reboot = 'self.reboot';
const alice = { ...admin, id: 'USER:alice', name: 'alice' };
const keyOf = (owner: Actor, id: string): Actor => ({ ...admin, id: `KEY:${id}`, name: id, owner: owner.id });
const bob = { ...admin, id: 'USER:bob', name: 'bob' };

let fixture: HubFixture;
let hub: HubProcess;

beforeAll(async () => {
  fixture = await openHub();
  hub = fixture.hub;
  await hub.connect(devices);
  // Its firmware reserves no tool for users. Connected first, because counts of tools are cached.
  await hub.connect(
    ['open-board'],
    boardTools.map((tool) => ({ ...tool, userOnly: false })),
  );
});
afterAll(() => fixture.close());
beforeEach(() => hub.gateway.forget());

const fleetWith = (mode: ApprovalMode, callDevicesMax = 2): Fleet => {
  return new Fleet({ ...hub, logger: silent, callRules: new CallRules([]), approvals: { mode, callDevicesMax } });
};
const nth = (index: number): string => devices[index] ?? '';

describe('four eyes', () => {
  const waiting = async (maker: Actor, filter = { ids: [nth(0)] } as object): Promise<JobId> => {
    const request = { tool: reboot, arguments: {}, devices: filter };
    const { job, refusal } = await fleetWith('on').createJob(request, randomUUID(), maker);
    if (job?.state !== 'AWAITING_APPROVAL') throw new TypeError(`${job?.state} ${refusal?.message}`);
    return job.id;
  };

  it.each([
    ['a person approves what their key created', keyOf(alice, 'a'), alice],
    ['a key approves what its owner created', alice, keyOf(alice, 'a')],
    ['a key approves what another key of its owner created', keyOf(alice, 'a'), keyOf(alice, 'b')],
    ['the creator approves', alice, alice],
  ])('are not two where %s', async (_what, maker, approver) => {
    const id = await waiting(maker);
    const refused = { refusal: { code: 'CONFLICT', message: expect.stringContaining('another person') as unknown } };
    expect(await fleetWith('on').approveJob(id, approver)).toMatchObject(refused);
    expect(await fleetWith('on').denyJob(id, 'no', approver)).toMatchObject(refused);
    expect((await hub.job(id)).state).toBe('AWAITING_APPROVAL');
    expect((await fleetWith('on').approveJob(id, keyOf(bob, 'of-bob'))).job?.approvedBy).toBe('of-bob');
    await hub.finished(id);
  });

  it('cover the devices that matched when the job was created, and no others', async () => {
    const by = { actor: 'spec' };
    await hub.registry.devices.tag({ ids: [nth(0), nth(1)] }, { add: ['restart'], remove: [], tagsMax: 50 }, by);
    const id = await waiting(alice, { tags: ['restart'] });
    expect(await hub.job(id)).toMatchObject({ approvalTargets: 2 });
    await hub.registry.devices.tag({ ids: [nth(2)] }, { add: ['restart'], remove: [], tagsMax: 50 }, by);
    await hub.registry.devices.tag({ ids: [nth(1)] }, { add: [], remove: ['restart'], tagsMax: 50 }, by);
    await fleetWith('on').approveJob(id, bob);
    expect(await hub.finished(id)).toMatchObject({ total: 1 });
    expect([...hub.gateway.callsByDevice.keys()]).toEqual([nth(0)]);
  });
});

describe('disruptive single calls', () => {
  const call = (fleet: Fleet, index: number, actor: Actor) =>
    fleet.callTool({ deviceId: nth(index), tool: reboot, arguments: {} }, actor);
  const refusedAs = (code: string, tool = 'createJob') => ({
    call: { outcome: 'REJECTED', error: { code } },
    refusal: { code, path: ['input', 'tool'], message: expect.stringContaining(tool) as unknown },
  });

  it('are limited to a number of devices per person and hour, over all keys and processes', async () => {
    const [one, other] = [fleetWith('on'), fleetWith('on')];
    for (const index of [0, 1, 0])
      expect((await call(one, index, index === 1 ? keyOf(alice, 'a') : alice)).refusal).toBeUndefined();
    const sent = hub.gateway.callCount;
    expect(await call(other, 2, keyOf(alice, 'b'))).toMatchObject(refusedAs('APPROVAL_REQUIRED'));
    expect(hub.gateway.callCount).toBe(sent);
    expect((await call(other, 2, bob)).refusal).toBeUndefined();
    expect((await call(other, 1, keyOf(alice, 'b'))).refusal).toBeUndefined();
    expect(
      (await other.callTool({ deviceId: nth(3), tool: 'self.lamp.turn_on', arguments: {} }, alice)).refusal,
    ).toBeUndefined();
    hub.clock.advance(hourMs + 1_000);
    expect((await call(one, 2, alice)).refusal).toBeUndefined();
  });

  it('use the last slot once, also under concurrency', async () => {
    const carol = { ...admin, id: 'USER:carol', name: 'carol' };
    const fleets = [fleetWith('on', 1), fleetWith('on', 1)];
    const answers = await Promise.all([0, 1, 2, 3].map((index) => call(fleets[index % 2] ?? hub.fleet, index, carol)));
    expect(answers.filter(({ refusal }) => refusal === undefined)).toHaveLength(1);
  });

  it('are not counted where approvals are off', async () => {
    for (const index of [0, 1, 2, 3]) expect((await call(fleetWith('off', 0), index, alice)).refusal).toBeUndefined();
  });
});

describe('a job that calls a tool', () => {
  const jobsOnly = { ...alice, mayCallTools: false };
  const lamps = { tool: 'self.lamp.turn_on', arguments: {}, devices: { ids: devices } };

  it('needs the scope for calling tools, to be made, previewed, approved or run again', async () => {
    const forbidden = { code: 'FORBIDDEN', message: expect.stringContaining('TOOLS_CALL') as unknown };
    await expect(hub.fleet.createJob(lamps, randomUUID(), jobsOnly)).rejects.toMatchObject(forbidden);
    await expect(hub.fleet.previewJob(lamps, jobsOnly)).rejects.toMatchObject(forbidden);
    const { job } = await hub.fleet.createJob(lamps, randomUUID(), alice);
    await hub.finished(job?.id as JobId);
    await expect(
      hub.fleet.rerunJob(job?.id ?? '', { outcomes: ['SUCCEEDED'] }, randomUUID(), jobsOnly),
    ).rejects.toMatchObject(forbidden);
    const waits = await fleetWith('on').createJob({ ...lamps, tool: reboot }, randomUUID(), alice);
    await expect(
      fleetWith('on').approveJob(waits.job?.id ?? '', { ...bob, mayCallTools: false }),
    ).rejects.toMatchObject(forbidden);
    await hub.fleet.cancelJob(waits.job?.id ?? '', true, alice);
  });

  it('names the scope that is missing to approve it', async () => {
    const fleet = fleetWith('on');
    const missing = async (tool: string, change: Partial<Actor>) => {
      const { job, refusal } = await fleet.createJob({ ...lamps, tool }, randomUUID(), alice);
      if (job === undefined) throw new TypeError(refusal?.message);
      const scope = await fleet.scopeToApprove(job, { ...bob, ...change });
      const { refusal: refused } = await fleet
        .approveJob(job.id, { ...bob, ...change })
        .catch(() => ({ refusal: true }));
      const { job: ended } = await fleet.cancelJob(job.id, true, alice);
      expect(ended && (await fleet.scopeToApprove(ended, { ...bob, ...change }))).toBeUndefined();
      return [scope, refused !== undefined];
    };
    expect(await missing(reboot, {})).toEqual([undefined, false]);
    expect(await missing(reboot, { mayCallTools: false })).toEqual(['TOOLS_CALL', true]);
    expect(await missing(reboot, { mayCallUserOnly: false })).toEqual(['TOOLS_CALL_PRIVILEGED', true]);
  });

  it('is not approved without the scope for user-only tools where only some devices reserve its tool', async () => {
    const fleet = fleetWith('on');
    const waits = async (maker: Actor, ids = devices) => {
      const { job } = await fleet.createJob({ ...lamps, tool: reboot, devices: { ids } }, randomUUID(), maker);
      if (job === undefined) throw new TypeError('No job.');
      return job;
    };
    const limited = { ...bob, mayCallUserOnly: false };
    const reserved = await waits(alice);
    expect(await fleet.scopeToApprove(reserved, limited)).toBe('TOOLS_CALL_PRIVILEGED');
    expect(await fleet.approveJob(reserved.id, limited)).toMatchObject({ refusal: { code: 'TOOL_FORBIDDEN' } });
    // These call the tool only where any caller may.
    const unreserved = [await waits({ ...alice, mayCallUserOnly: false }), await waits(alice, ['open-board'])];
    for (const job of unreserved) {
      expect(await fleet.scopeToApprove(job, limited)).toBeUndefined();
      expect((await fleet.approveJob(job.id, limited)).refusal).toBeUndefined();
    }
    for (const { id } of [reserved, ...unreserved]) await fleet.cancelJob(id, true, alice);
  });

  it('does not require TOOLS_CALL for a job that rolls out an image', async () => {
    const image = await new RolloutFixture(hub).published('8.0.0');
    const preview = await hub.fleet.previewJob({ firmwareImageId: image.id, devices: { ids: devices } }, jobsOnly);
    expect(preview).toMatchObject({ refusal: undefined, targetCount: 4 });
  });
});

describe('new firmware', () => {
  const publishedBy = async (version: string, publisher: Actor, kind: 'FIRMWARE' | 'ASSETS' = 'FIRMWARE') => {
    const image = await new RolloutFixture(hub).published(version, [], { kind });
    const publication = {
      id: image.id,
      models: ['board'],
      notes: undefined,
      at: hub.clock.now(),
      publisherId: publisher.id,
    };
    await hub.registry.firmwareImages.publish(publication);
    return image.id;
  };
  const stateOf = async (fleet: Fleet, firmwareImageId: string, actor: Actor) => {
    const preview = await fleet.previewJob({ firmwareImageId, devices: { ids: devices } }, actor);
    const { job } = await fleet.createJob(
      { firmwareImageId, devices: { ids: devices }, startAt: hub.clock.now() + hourMs },
      randomUUID(),
      actor,
    );
    await hub.fleet.cancelJob(job?.id ?? '', true, admin);
    const codes = preview.warnings.map(({ code }) => code).filter((code) => code !== 'FORMER_IMAGE_MISSING');
    expect(codes).toEqual(job?.state === 'AWAITING_APPROVAL' ? ['NEEDS_APPROVAL'] : []);
    return job?.state;
  };

  it('is not published and rolled out by one person alone', async () => {
    const id = await publishedBy('9.0.0', alice);
    const strict = fleetWith('firmware');
    expect(await stateOf(strict, id, alice)).toBe('AWAITING_APPROVAL');
    expect(await stateOf(strict, id, keyOf(alice, 'a'))).toBe('AWAITING_APPROVAL');
    expect(await stateOf(strict, id, bob)).toBe('SCHEDULED');
    expect(await stateOf(fleetWith('off'), id, alice)).toBe('SCHEDULED');
    expect(await stateOf(fleetWith('on'), await publishedBy('9.0.1', alice, 'ASSETS'), alice)).toBe(
      'AWAITING_APPROVAL',
    );
  });

  it('that was published before publishers were recorded waits', async () => {
    const { id } = await new RolloutFixture(hub).published('9.1.0');
    expect(await stateOf(fleetWith('firmware'), id, bob)).toBe('AWAITING_APPROVAL');
  });

  it('cannot bypass these rules by a plain call or job', async () => {
    const callRules = new CallRules(['https://files.example/']);
    const strict = new Fleet({
      ...hub,
      logger: silent,
      callRules,
      approvals: { mode: 'firmware', callDevicesMax: 0 },
    });
    const act = { tool: 'self.upgrade_firmware', arguments: { url: 'https://files.example/x.bin' } };
    expect((await strict.callTool({ deviceId: nth(0), ...act }, alice)).refusal?.code).toBe('APPROVAL_REQUIRED');
    const { job } = await strict.createJob({ ...act, devices: { ids: [nth(0)] } }, randomUUID(), alice);
    expect(job?.state).toBe('AWAITING_APPROVAL');
    await hub.fleet.cancelJob(job?.id ?? '', true, admin);
    const signedOnly = new Fleet({
      ...hub,
      logger: silent,
      callRules: new CallRules(['https://files.example/'], true),
    });
    expect((await signedOnly.callTool({ deviceId: nth(0), ...act }, alice)).refusal?.code).toBe('URL_FORBIDDEN');
    expect(
      (await signedOnly.createJob({ ...act, devices: { ids: [nth(0)] } }, randomUUID(), alice)).refusal?.code,
    ).toBe('URL_FORBIDDEN');
  });

  it('has a preview with a warning for plain HTTP', async () => {
    const id = await publishedBy('9.2.0', alice);
    const codes = async (origin: string) => {
      const fleet = new Fleet({
        ...hub,
        logger: silent,
        callRules: new CallRules([]),
        downloadOrigin: () => origin,
      });
      const { warnings } = await fleet.previewJob({ firmwareImageId: id, devices: { ids: devices } }, alice);
      return warnings.map(({ code }) => code);
    };
    expect(await codes('http://hub.example')).toEqual(['PLAIN_HTTP_DOWNLOAD', 'FORMER_IMAGE_MISSING']);
    expect(await codes('https://hub.example')).toEqual(['FORMER_IMAGE_MISSING']);
  });
});
