/**
 * The same key with the same request returns the first job, even if its devices are gone and a new
 * job would be refused. [jobs §5]
 */
import { randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, boardTools, openHub, operator, startJob } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import type { Actor } from '../actor.js';
import type { JobAnswer } from '../jobs/commands/create-job.js';
import { RolloutFixture } from '../rollout/rollout-fixture.suite.js';

const failed = { ...answers('no'), kind: 'FAILED' } as const;

describe('a job that is asked for again', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let rollout: RolloutFixture;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    rollout = new RolloutFixture(hub);
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
  });
  afterAll(() => fixture.close());

  /** Expects the first job again after `change`, and this refusal for a new idempotency key. */
  async function expectRepeated(
    make: (key: string) => Promise<JobAnswer>,
    change: () => Promise<unknown>,
    refusal: string,
  ): Promise<void> {
    const key = randomUUID();
    const { job } = await make(key);
    if (job === undefined) throw new TypeError('No job.');
    await hub.finished(job.id);
    await change();
    expect(await make(key)).toMatchObject({ job: { id: job.id, state: 'FINISHED' } });
    expect((await make(randomUUID())).refusal?.code).toBe(refusal);
  }

  const remove = (id: string): Promise<unknown> => hub.registry.enrolments.remove(id as DeviceId);

  it('is found by its key before its devices are selected again', async () => {
    await hub.connect(['counted-1', 'counted-2']);
    const made = (ids: readonly string[], key: string) =>
      hub.fleet.createJob({ tool: 'self.lamp.turn_on', arguments: {}, devices: { ids } }, key, operator, 'lamps on');
    const [idempotencyKey, unused] = [randomUUID(), randomUUID()];
    const { job } = await made(['counted-1', 'counted-2'], idempotencyKey);
    expect(await made(['counted-1'], idempotencyKey)).toMatchObject({ job: { id: job?.id } });
    const earlier = (key: string, hash: string, actor = operator) =>
      hub.fleet.earlierJob({ idempotencyKey: key, requestHash: hash }, actor);
    expect(await earlier(idempotencyKey, 'lamps on')).toMatchObject({ job: { id: job?.id } });
    expect((await earlier(idempotencyKey, 'lamps off'))?.refusal?.code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect([await earlier(unused, 'lamps on'), await earlier(idempotencyKey, 'lamps on', admin)]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('is the first one after its group and its device are gone', async () => {
    await hub.connect(['grouped']);
    const lamps = { name: 'lamps', filter: { ids: ['grouped'] }, timeZone: undefined, voiceUrl: undefined };
    const saved = await hub.fleet.createDeviceGroup(lamps, admin);
    if (!('group' in saved)) throw new TypeError('No group.');
    const request = { tool: 'self.lamp.turn_on', arguments: {}, devices: { groupId: saved.group.id } };
    const leave = async () => {
      await hub.fleet.deleteDeviceGroup(saved.group.id, admin);
      await remove('grouped');
    };
    await expectRepeated((key) => hub.fleet.createJob(request, key, operator), leave, 'NOT_FOUND');
  });

  it('is the first roll-out after its image was withdrawn', async () => {
    const image = await rollout.published('5.0.0');
    await hub.connect(['rolled-out'], boardTools, '5.0.0');
    const request = { firmwareImageId: image.id, devices: { ids: ['rolled-out'] } };
    const withdraw = async () => {
      await hub.registry.firmwareImages.withdraw(image.id, hub.clock.now());
      expect(await hub.registry.firmwareImages.remove(image.id, hub.clock.now())).toEqual({ kind: 'IN_USE' });
    };
    await expectRepeated((key) => hub.fleet.createJob(request, key, admin), withdraw, 'CONFLICT');
  });

  it('returns the first rerun after its devices are gone and the old job is no longer visible', async () => {
    await hub.connect(['unlucky']);
    hub.gateway.behave = (_, settle) => settle(failed);
    const parent = await startJob(hub, ['unlucky']);
    await hub.finished(parent);
    const scopedTo = { ...operator, id: 'KEY:scoped', devices: { ids: ['unlucky'] } };
    const again = (actor: Actor) => (key: string) => hub.fleet.rerunJob(parent, { outcomes: ['FAILED'] }, key, actor);
    const leave = () => expectRepeated(again(scopedTo), () => remove('unlucky'), 'NOT_FOUND');
    await expectRepeated(again(operator), leave, 'INVALID');
  });

  it('is the first revert after its image was withdrawn and its devices are gone', async () => {
    const [bad, former] = [await rollout.published('6.1.0'), await rollout.published('6.0.0')];
    await hub.connect(['back'], boardTools, '6.0.0');
    rollout.install(bad.version);
    const jobId = await rollout.started(bad, ['back']);
    await hub.finished(jobId);
    rollout.install(former.version);
    const leave = async () => {
      await hub.registry.firmwareImages.withdraw(former.id, hub.clock.now());
      await remove('back');
    };
    await expectRepeated((key) => hub.fleet.revertJob(jobId, key, admin), leave, 'CONFLICT');
  });
});
