/**
 * A firmware roll-out over the built hub: an image that breaks one board in twenty, the canary that
 * stops it, and the way back.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../src/eventually.js';
import { makeAssets, makeImage, publishedImage } from '../src/jobs/firmware-image.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online, readJob, steerJob, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { createEnrolmentLink } from '../src/devices/provisioning-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { PATIENCE } from '../src/patience.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
/** Of each board. */
const DEVICES = isLong ? 334 : 40;
const BOARDS = [
  { profile: 'screen-camera', model: 'lichuang-dev', version: '2.4.2' },
  { profile: 'lamp', model: 'bread-compact-wifi', version: '2.4.2' },
  { profile: 'robot', model: 'otto-robot', version: '2.3.1' },
] as const;
const ALL = BOARDS.length * DEVICES;
const SICK = 'otto-robot';
/** One in so many of that board does not keep the image. */
const SICK_EVERY = 20;
/** One device in so many is switched on and asks its OTA address; the others only reconnect. */
const BOOTS_EVERY = 3;
/** One in so many of the canary comes back only when the job has stopped. */
const AWAY_OF_CANARY = 10;
const BAD = '9.9.9';
/** About as large as firmware without pictures is. */
const IMAGE_BYTES = isLong ? 1_000_000 : 300_000;
const IN_TIME_MS = isLong ? 300_000 : 60_000;

interface Group {
  readonly outcome: string;
  readonly code: string | null;
  readonly model: string | null;
  readonly count: number;
}

let hub: HubProcess;
let fleets: ReadonlyMap<string, SimulatedFleet>;

beforeAll(async () => {
  hub = await startHub({
    env: {
      FLOTILLA_VERIFY_DEADLINE_SECONDS: '240',
      FLOTILLA_VERIFY_SOAK_SECONDS: '1',
      FLOTILLA_VERIFY_OVERDUE_SECONDS: '120',
    },
  });
  const ota = await createEnrolmentLink(hub, { maxDevices: ALL });
  const args = ['--speed', isLong ? '2' : '20'];
  fleets = new Map(
    BOARDS.map(({ model, profile }, index) => [
      model,
      startFleet(hub, { devices: DEVICES, profile, seed: index + 1, ota, args }),
    ]),
  );
  await online(hub, ALL, IN_TIME_MS);
});

afterAll(async () => {
  for (const fleet of fleets.values()) await fleet.stop();
  await hub.stop();
  removeDataDir(hub.dataDir);
});

/** The simulated fleet that a device is one of. */
function fleetOf(model: string | undefined): SimulatedFleet {
  const fleet = fleets.get(model ?? '');
  if (fleet === undefined) throw new Error(`No fleet of ${model}.`);
  return fleet;
}

async function modelsById(): Promise<ReadonlyMap<string, string>> {
  const models = new Map<string, string>();
  for (const { model } of BOARDS) {
    const query = `query ($filter: DeviceFilter!, $after: String) {
      devices(filter: $filter, first: 200, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } }`;
    for (let after: string | null = null, isMore = true; isMore;) {
      const page: { devices: { nodes: { id: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } =
        await ask(hub, query, {
          filter: { model },
          after,
        });
      for (const { id } of page.devices.nodes) models.set(id, model);
      after = page.devices.pageInfo.endCursor;
      isMore = page.devices.pageInfo.hasNextPage;
    }
  }
  return models;
}

async function groupsOf(id: string): Promise<readonly Group[]> {
  const query = 'query ($id: ID!) { job(id: $id) { failureGroups { outcome code model count } } }';
  return (await ask<{ job: { failureGroups: Group[] } }>(hub, query, { id })).job.failureGroups;
}

/** The fewest bytes that a device which succeeded was served. */
async function servedBytes(id: string): Promise<number> {
  const query = `query ($id: ID!) {
    job(id: $id) { targets(first: 200, outcomes: [SUCCEEDED]) { nodes { download { bytesServed completedAt } } } } }`;
  const { job } = await ask<{
    job: { targets: { nodes: { download: { bytesServed: number; completedAt: string | null } | null }[] } };
  }>(hub, query, { id });
  return Math.min(...job.targets.nodes.map(({ download }) => (download?.completedAt ? download.bytesServed : 0)));
}

async function countOn(firmwareVersion: string): Promise<number> {
  const query = 'query ($filter: DeviceFilter!) { devices(filter: $filter) { totalCount } }';
  return (await ask<{ devices: { totalCount: number } }>(hub, query, { filter: { firmwareVersion } })).devices
    .totalCount;
}

async function reverted(id: string): Promise<readonly string[]> {
  const query = `mutation ($id: ID!) {
      revertJob(id: $id, idempotencyKey: "back") { job { id parentJobId } others { id } userErrors { message } } }`;
  const { revertJob } = await ask<{
    revertJob: { job: { id: string; parentJobId: string } | null; others: { id: string }[]; userErrors: unknown[] };
  }>(hub, query, { id });
  expect(revertJob).toMatchObject({ job: { parentJobId: id }, userErrors: [] });
  return [revertJob.job?.id ?? '', ...revertJob.others.map((other) => other.id)];
}

/**
 * Devices that return: some boot and ask, some only reconnect, and some of the canary stay away.
 * Those of it that are chosen to fail do.
 */
async function bringBack(
  id: string,
  models: ReadonlyMap<string, string>,
): Promise<{ readonly sick: string[]; readonly away: string[] }> {
  const targets = await targetsOf(hub, id);
  const booting = new Set(targets.filter((_, index) => index % BOOTS_EVERY === 0).map(({ deviceId }) => deviceId));
  const canary = targets.flatMap(({ deviceId, wave }) => (wave === 1 ? deviceId : []));
  const ofBoard = canary.filter((device) => models.get(device) === SICK);
  const sick = [
    ...ofBoard.filter((device) => booting.has(device)).slice(0, 1),
    ...ofBoard.filter((device) => !booting.has(device)),
  ].slice(0, Math.ceil(DEVICES / SICK_EVERY));
  const behaviour = { kind: 'upgradeFault', how: 'rollBack', version: BAD };
  for (const device of sick) await fleetOf(SICK).perform({ cmd: 'behaviour', device, behaviour });
  for (const device of booting) {
    const fleet = fleetOf(models.get(device));
    await fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'reboot' } });
    await fleet.perform({ cmd: 'connect', device });
  }
  // The first of them find places; where all are taken, a device connects and is called later.
  await eventually(
    () => readJob(hub, id),
    ({ progress }) => progress.verifying > 0,
  );
  const calm = canary.filter((device) => !booting.has(device));
  const away = calm.filter((device) => !sick.includes(device)).slice(0, Math.ceil(canary.length / AWAY_OF_CANARY));
  for (const device of calm)
    if (!away.includes(device)) await fleetOf(models.get(device)).perform({ cmd: 'connect', device });
  return { sick, away };
}

describe(`a roll-out to ${ALL} devices of ${BOARDS.length} boards`, () => {
  it(
    'stops at its canary where one board in twenty does not keep the image, says which, and is taken back',
    async () => {
      const models = BOARDS.map(({ model }) => model);
      const firmwareImageId = await publishedImage(hub, makeImage({ version: BAD, dataBytes: IMAGE_BYTES }), models);
      const versions = [...new Set(BOARDS.map(({ version }) => version))];
      for (const version of versions) {
        const boards = BOARDS.filter((board) => board.version === version).map(({ model }) => model);
        await publishedImage(hub, makeImage({ version, dataBytes: IMAGE_BYTES }), boards);
      }
      const modelOf = await modelsById();
      const canary = Math.ceil(ALL / 4);
      const rule = { outcomes: ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'], scope: 'JOB', count: 2, action: 'PAUSE' };
      const input = {
        firmwareImageId,
        devices: { all: true },
        maxInFlight: canary,
        abort: [rule],
        waves: [{ count: canary, successThreshold: 1 }],
      };
      const preview = await ask<{ previewJob: { targetCount: number; waves: number[]; blastRadius: number } }>(
        hub,
        'query ($input: CreateJobInput!) { previewJob(input: $input) { targetCount waves blastRadius } }',
        { input },
      );
      expect(preview.previewJob).toEqual({ targetCount: ALL, waves: [canary, ALL - canary], blastRadius: canary });

      for (const fleet of fleets.values()) await fleet.perform({ cmd: 'disconnect', device: '*', how: 'graceful' });
      await online(hub, 0);
      const id = await jobOf(hub, input, 'bad image');
      await eventually(
        () => readJob(hub, id),
        ({ progress }) => progress.waitingDevice === canary && progress.pending === ALL - canary,
      );
      const { sick, away } = await bringBack(id, modelOf);
      await eventually(
        () => readJob(hub, id),
        ({ state }) => state === 'PAUSED',
        IN_TIME_MS,
      );
      // A device that returns now gets no image.
      for (const fleet of fleets.values()) await fleet.perform({ cmd: 'connect', device: '*' });
      await eventually(
        () => readJob(hub, id),
        ({ progress }) => progress.verifying + progress.inFlight === 0,
        IN_TIME_MS,
      );
      await online(hub, ALL, IN_TIME_MS);
      await steerJob(hub, 'cancelJob', id);
      const job = await finished(hub, id, IN_TIME_MS);
      expect(sumOf(job)).toBe(ALL);
      const ended = await targetsOf(hub, id);
      const touched = ended.filter(({ attempts }) => attempts > 0);
      expect(away.length).toBeGreaterThan(0);
      expect(touched.length).toBeLessThanOrEqual(preview.previewJob.blastRadius - away.length);
      expect(touched.filter(({ deviceId }) => away.includes(deviceId))).toEqual([]);
      expect(touched.every(({ wave }) => wave === 1)).toBe(true);
      const failed = ended
        .filter(({ outcome }) => outcome !== 'SUCCEEDED' && outcome !== 'CANCELLED')
        .map(({ deviceId }) => deviceId);
      expect(failed.length).toBeGreaterThanOrEqual(2);
      expect(sick).toEqual(expect.arrayContaining(failed));
      expect(await groupsOf(id)).toEqual([
        { outcome: 'VERIFY_FAILED', code: 'NOT_APPLIED_OR_ROLLED_BACK', model: SICK, count: failed.length },
      ]);
      expect(job.progress.succeeded).toBe(touched.length - failed.length);
      expect(await countOn(BAD)).toBe(job.progress.succeeded);
      expect(await servedBytes(id)).toBeGreaterThanOrEqual(IMAGE_BYTES);
      // Some were sent the image by a call, and some by the answer to their OTA request.
      let called = 0;
      for (const fleet of fleets.values()) called += (await fleet.counts()).tools['self.upgrade_firmware'] ?? 0;
      expect(called).toBeGreaterThan(0);
      expect(called).toBeLessThan(touched.length);

      const back = await reverted(id);
      expect(back).toHaveLength(versions.length);
      for (const each of back) expect(await finished(hub, each, IN_TIME_MS)).toMatchObject({ conclusion: 'SUCCEEDED' });
      expect(await countOn(BAD)).toBe(0);
    },
    4 * IN_TIME_MS * PATIENCE,
  );

  it(
    'of assets reaches them at their next start',
    async () => {
      const { model } = BOARDS[1];
      const fleet = fleetOf(model);
      const assets = makeAssets(50_000);
      const firmwareImageId = await publishedImage(hub, assets, [model], { kind: 'ASSETS', version: '1.2.0' });
      const ids = [...(await modelsById())].flatMap(([id, board]) => (board === model ? [id] : [])).slice(0, 3);
      const id = await jobOf(hub, { firmwareImageId, devices: { ids } }, 'assets');
      expect(await finished(hub, id, IN_TIME_MS)).toMatchObject({
        conclusion: 'SUCCEEDED',
        progress: { succeeded: 3 },
      });
      const loaded = () => fleet.notices.filter(({ event }) => event === 'assetsLoaded');
      expect(loaded()).toEqual([]);
      for (const device of ids) await fleet.perform({ cmd: 'behaviour', device, behaviour: { kind: 'reboot' } });
      await eventually(loaded, (notices) => notices.length === 3, IN_TIME_MS);
      expect(new Set(loaded().map(({ bytes }) => bytes))).toEqual(new Set([assets.length]));
      expect(fleet.notices.filter(({ event }) => event === 'updateFailed')).toEqual([]);
    },
    2 * IN_TIME_MS * PATIENCE,
  );
});
