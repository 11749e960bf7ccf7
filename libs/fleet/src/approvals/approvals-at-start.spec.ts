/** Roll-outs whose image changes between their creation and their start, over a real database. */
import { randomUUID } from 'node:crypto';
import type { FirmwareImageRow } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { CallRules } from '../calls/call-rules.js';
import { admin, openHub, quickVerification, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { Fleet } from '../fleet.js';
import { TickWorker } from '../worker/tick-worker.js';
import { newId } from '../new-id.js';
import { RolloutFixture } from '../rollout/rollout-fixture.suite.js';

const hourMs = 3_600_000;
const alice = { ...admin, id: 'USER:alice', name: 'alice' };
const bob = { ...admin, id: 'USER:bob', name: 'bob' };
const carol = { ...admin, id: 'USER:carol', name: 'carol' };

describe('a roll-out', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let fleet: Fleet;
  let worker: TickWorker;
  let rollout: RolloutFixture;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    rollout = new RolloutFixture(hub);
    const rules = {
      ...hub,
      logger: silent,
      callRules: new CallRules([]),
      verification: quickVerification,
      approvals: { mode: 'firmware' as const, callDevicesMax: 2 },
      mustBeSigned: true,
    };
    fleet = new Fleet(rules);
    worker = new TickWorker(rules);
    await worker.start();
  });
  afterAll(async () => {
    await hub.clock.during(worker.stop());
    await fixture.close();
  });

  async function connected(id: string, model: string): Promise<void> {
    await hub.connect([id]);
    const board = { chip: 'esp32s3', otaPartitions: 2, elfSha256: undefined };
    await hub.registry.enrolments.admit(rollout.contactOf(id, { model, board }));
  }

  /** An image that is signed with a new key, and published by `publisher` for the first board. */
  async function signedImage(
    version: string,
    publisher: Actor,
  ): Promise<FirmwareImageRow & { readonly keyId: string }> {
    const keyId = newId(hub.clock.now());
    const key = { id: keyId, name: version, publicKey: version, fingerprint: randomUUID(), createdAt: hub.clock.now() };
    await hub.registry.signingKeys.add(key, { keysMax: 20, by: { actor: 'spec' } });
    const signature = { value: 'c2lnbmVk', fingerprint: key.fingerprint };
    const image = await rollout.published(version, [], { signature });
    await published(image.id, ['board-a'], publisher);
    return { ...image, keyId };
  }

  async function published(id: string, models: readonly string[], publisher: Actor): Promise<void> {
    const publication = { id, models, notes: undefined, at: hub.clock.now(), publisherId: ownerOf(publisher) };
    expect(await hub.registry.firmwareImages.publish(publication)).toMatchObject({ kind: 'published' });
  }

  /** A job of Bob that starts in an hour, over a device of each board. */
  async function scheduled({ id: firmwareImageId, version }: FirmwareImageRow) {
    const ids = [`a-${version}`, `b-${version}`];
    for (const id of ids) await connected(id, `board-${id.charAt(0)}`);
    const request = { firmwareImageId, devices: { ids }, abort: [], startAt: hub.clock.now() + hourMs };
    const { job, refusal } = await fleet.createJob(request, randomUUID(), bob);
    if (job?.state !== 'SCHEDULED') throw new TypeError(`${job?.state} ${refusal?.message}`);
    return job.id;
  }

  it('waits for approval if its creator publishes the image for more boards before it starts', async () => {
    const image = await signedImage('2.0.0', alice);
    const id = await scheduled(image);
    await published(image.id, ['board-a', 'board-b'], bob);
    hub.clock.advance(hourMs);
    await hub.clock.until(() => hub.job(id)).toMatchObject({ state: 'AWAITING_APPROVAL', approvalTargets: 2 });
    expect(await hub.progress(id)).toMatchObject({ total: 0 });
    expect(hub.gateway.callCount).toBe(0);
    const { rows } = await hub.registry.audit.page({ subject: `job:${id}` }, { first: 1 });
    expect(rows).toMatchObject([{ action: 'job.approval_required', actor: 'hub' }]);
    expect((await fleet.approveJob(id, bob)).refusal?.code).toBe('CONFLICT');
    rollout.install('2.0.0');
    expect((await fleet.approveJob(id, carol)).job).toMatchObject({ approvedBy: 'carol' });
    expect(await hub.finished(id)).toMatchObject({ conclusion: 'SUCCEEDED', total: 2 });
  });

  it('waits for approval if its creator withdraws the image and publishes it again', async () => {
    const image = await signedImage('2.1.0', alice);
    const id = await scheduled(image);
    await hub.registry.firmwareImages.withdraw(image.id, hub.clock.now());
    await published(image.id, ['board-a'], bob);
    hub.clock.advance(hourMs);
    await hub.clock.until(() => hub.job(id)).toMatchObject({ state: 'AWAITING_APPROVAL', approvalTargets: 2 });
    expect((await fleet.denyJob(id, 'not yours', carol)).job).toMatchObject({ conclusion: 'DENIED' });
    expect(await hub.progress(id)).toMatchObject({ total: 0 });
  });

  it('starts if others publish the image for more boards', async () => {
    const image = await signedImage('2.2.0', alice);
    const id = await scheduled(image);
    await published(image.id, ['board-b'], carol);
    rollout.install('2.2.0');
    hub.clock.advance(hourMs);
    expect(await hub.finished(id)).toMatchObject({ conclusion: 'SUCCEEDED', approvedBy: undefined });
  });

  it('is aborted if the key that signed its image was removed before it starts', async () => {
    const image = await signedImage('2.3.0', alice);
    const id = await scheduled(image);
    const before = hub.gateway.callCount;
    await hub.registry.signingKeys.remove(image.keyId, { at: hub.clock.now(), by: { actor: 'spec' } });
    hub.clock.advance(hourMs);
    expect(await hub.finished(id)).toMatchObject({ conclusion: 'ABORTED' });
    expect(await hub.progress(id)).toMatchObject({ total: 2, cancelled: 1, rejected: 1 });
    expect(hub.gateway.callCount).toBe(before);
    const { rows } = await hub.registry.audit.page({ subject: `job:${id}` }, { first: 5 });
    expect(rows.find(({ action }) => action === 'job.aborted')?.data['reason']).toContain('no valid signature');
  });
});
