/** Which devices an image fits, over a real database: each reason under its code. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin, answers, boardTools, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { gone, RolloutFixture } from './rollout-fixture.suite.js';

describe('an image', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  let rollout: RolloutFixture;

  beforeAll(async () => {
    fixture = await openHub();
    hub = fixture.hub;
    rollout = new RolloutFixture(hub);
  });
  beforeEach(() => {
    hub.gateway.forget();
    hub.gateway.behave = () => undefined;
  });
  afterAll(() => fixture.close());

  /** Connects a device that has reported these facts at its OTA check. */
  async function connected(
    id: string,
    facts: { readonly chip?: string; readonly otaPartitions?: number },
    version = '1.0.0',
    tools = boardTools,
  ): Promise<void> {
    const board = { chip: facts.chip ?? 'esp32s3', otaPartitions: facts.otaPartitions ?? 2, elfSha256: undefined };
    await hub.registry.enrolments.admit(rollout.contactOf(id, { firmwareVersion: version, board }));
    await hub.connect([id], tools, version);
  }

  it('is refused to devices that cannot run it, and the report has a group for each reason', async () => {
    const image = await rollout.published('2.0.0');
    await connected('foreign-chip', { chip: 'esp32c3' });
    await connected('one-slot', { otaPartitions: 0 });
    await connected('current', {}, '2.0.0');
    await connected('fits', {});
    rollout.install('2.0.0');
    const ids = ['foreign-chip', 'one-slot', 'current', 'fits'];
    const preview = await hub.fleet.previewJob({ firmwareImageId: image.id, devices: { ids } }, admin);
    expect(preview.argumentErrors).toHaveLength(3);
    const jobId = await rollout.started(image, ids);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'PARTIAL' });
    const rows = await rollout.targets(jobId);
    expect(ids.map((id) => [rows.get(id)?.outcome, rows.get(id)?.error?.code])).toEqual([
      ['REJECTED', 'WRONG_CHIP'],
      ['REJECTED', 'NO_OTA_PARTITION'],
      ['NO_CHANGE', 'ALREADY_CURRENT'],
      ['SUCCEEDED', undefined],
    ]);
    expect([...hub.gateway.callsByDevice.keys()]).toEqual(['fits']);
    const ofAnotherBoard = await rollout.started(await rollout.published('2.0.0', ['other-board']), ['fits']);
    expect(await hub.finished(ofAnotherBoard)).toMatchObject({ conclusion: 'FAILED' });
    expect(await hub.registry.jobs.failureGroups([ofAnotherBoard], 5)).toMatchObject([
      [{ outcome: 'REJECTED', code: 'WRONG_BOARD', model: 'board', count: 1 }],
    ]);
  });

  it('does not fit a device for one reason only in a preview, also without the tool', async () => {
    const image = await rollout.published('2.2.0');
    await connected('with-tool', { chip: 'esp32c3' });
    for (const id of ['without-1', 'without-2'])
      await connected(id, { chip: 'esp32c3' }, '1.0.0', boardTools.slice(0, 1));
    await connected('lacks-tool', {}, '1.0.0', boardTools.slice(0, 1));
    for (const id of ['good-1', 'good-2']) await connected(id, {});
    const ids = ['with-tool', 'without-1', 'without-2', 'lacks-tool', 'good-1', 'good-2'];
    const waves = [{ count: 1, successThreshold: 0, soakSeconds: 0, gate: 'AUTO' }] as const;
    const preview = await hub.fleet.previewJob(
      { firmwareImageId: image.id, devices: { ids }, waves, abort: [] },
      admin,
    );
    expect(preview).toMatchObject({ targetCount: 6, missingToolCount: 1, waves: [1, 1], blastRadius: 2 });
    expect(preview.argumentErrors.map(({ deviceCount }) => deviceCount)).toEqual([3]);
  });

  it('takes the time in which a health gate watches each wave, in the estimate of a preview', async () => {
    const image = await rollout.published('2.3.0');
    await hub.connect(['watched-1', 'watched-2']);
    const waves = [{ count: 1, successThreshold: 0, soakSeconds: 60, gate: 'AUTO' }] as const;
    const asked = { firmwareImageId: image.id, devices: { ids: ['watched-1', 'watched-2'] }, waves, perMinute: 60 };
    expect((await hub.fleet.previewJob(asked, admin)).estimatedSeconds).toBe(18 + 60);
    const health = { observeSeconds: 600, action: 'PAUSE' } as const;
    expect((await hub.fleet.previewJob({ ...asked, health }, admin)).estimatedSeconds).toBe(18 + 600 + 600);
  });

  it('that is withdrawn during its roll-out is sent to no more devices', async () => {
    const image = await rollout.published('2.1.0');
    await hub.connect(['first', 'second']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      const withdrawn = hub.registry.firmwareImages.withdraw(image.id, hub.clock.now());
      void withdrawn
        .then(() => settle(gone))
        .then(() => hub.disconnect(deviceId))
        .then(() => hub.connect([deviceId], boardTools, '2.1.0'));
    };
    const jobId = await rollout.started(image, ['first', 'second'], { maxInFlight: 1 });
    await hub.finished(jobId);
    const rows = [...(await rollout.targets(jobId)).values()];
    expect(rows.map(({ outcome, error }) => [outcome, error?.code]).sort()).toEqual([
      ['REJECTED', 'IMAGE_WITHDRAWN'],
      ['SUCCEEDED', undefined],
    ]);
    expect(hub.gateway.callCount).toBe(1);
  });

  it('of assets is sent with a call, whose answer decides', async () => {
    const tools = boardTools.map((tool) =>
      tool.name === 'self.upgrade_firmware' ? { ...tool, name: 'self.assets.set_download_url' } : tool,
    );
    const image = await rollout.published('1.2.0', ['board'], { kind: 'ASSETS', chip: 'any' });
    await hub.connect(['pretty', 'sulky'], tools);
    hub.gateway.behave = ({ deviceId }, settle) =>
      settle(
        deviceId === 'pretty'
          ? answers('true')
          : { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'no' } },
      );
    const jobId = await rollout.started(image, ['pretty', 'sulky']);
    expect(await hub.finished(jobId)).toMatchObject({
      conclusion: 'PARTIAL',
      tool: 'self.assets.set_download_url',
      verification: 'NONE',
    });
    const rows = await rollout.targets(jobId);
    expect([rows.get('pretty')?.outcome, rows.get('sulky')?.outcome]).toEqual(['SUCCEEDED', 'FAILED']);
    expect((await hub.fleet.revertJob(jobId, randomUUID(), admin)).refusal?.code).toBe('CONFLICT');
  });
});
