/** A firmware roll-out over the built hub: a board that the image does not suit, and the way back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from './src/eventually.js';
import { makeImage, uploadImage } from './src/firmware-image.js';
import { ask } from './src/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from './src/hub-process.js';
import { finished, jobOf, online, readJob, sumOf, steerJob } from './src/job-api.js';
import { startFleet, type SimulatedFleet } from './src/simulated-fleet.js';

/** Of each board. */
const DEVICES = 30;
/** One of the second board in so many does not keep the image. */
const BROKEN_SHARE = 5;
const BAD = '9.9.9';

interface Group {
  readonly outcome: string;
  readonly code: string | null;
  readonly model: string | null;
  readonly count: number;
}

describe('a roll-out', () => {
  let hub: HubProcess;
  let fleets: readonly SimulatedFleet[];
  let boards: readonly { readonly model: string; readonly version: string; readonly ids: readonly string[] }[];

  beforeAll(async () => {
    hub = await startHub({
      env: {
        FLOTILLA_VERIFY_DEADLINE_SECONDS: '60',
        FLOTILLA_VERIFY_SOAK_SECONDS: '2',
        FLOTILLA_VERIFY_OVERDUE_SECONDS: '30',
      },
    });
    const args = ['--boot-ms', '200'];
    fleets = ['lamp', 'robot'].map((profile, index) => startFleet(hub, { devices: DEVICES, profile, seed: index + 1, args }));
    await online(hub, 2 * DEVICES);
    const query = '{ devices(filter: { all: true }, first: 200) { nodes { id model firmwareVersion } } }';
    const { devices } = await ask<{ devices: { nodes: { id: string; model: string; firmwareVersion: string }[] } }>(hub, query, {});
    const models = [...new Set(devices.nodes.map(({ model }) => model))].sort();
    boards = models.map((model) => {
      const nodes = devices.nodes.filter((node) => node.model === model);
      return { model, version: nodes[0]?.firmwareVersion ?? '', ids: nodes.map(({ id }) => id) };
    });
  });

  afterAll(async () => {
    for (const fleet of fleets) await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  async function publishedImage(version: string, models: readonly string[]): Promise<string> {
    const { body } = await uploadImage(hub, makeImage({ version }));
    const query = `mutation ($id: ID!, $models: [String!]!) { publishFirmwareImage(id: $id, models: $models) { userErrors { message } } }`;
    const { publishFirmwareImage: answer } = await ask<{ publishFirmwareImage: { userErrors: unknown[] } }>(hub, query, {
      id: body.id,
      models,
    });
    expect(answer.userErrors).toEqual([]);
    return body.id ?? '';
  }

  /** What their next upgrade makes of the devices: the simulated boot loader of some goes back to what was there before. */
  async function install(versionOf: (model: string) => string, isRolledBack: (device: string) => boolean): Promise<void> {
    for (const { model, ids } of boards) {
      const fleet = model === 'bread-compact-wifi' ? fleets[0] : fleets[1];
      await fleet?.perform({ cmd: 'behaviour', device: '*', behaviour: { kind: 'normal' } });
      const behaviour = { kind: 'upgradeTo', version: versionOf(model) };
      await fleet?.perform({ cmd: 'behaviour', device: '*', behaviour });
      for (const device of ids.filter(isRolledBack)) {
        await fleet?.perform({ cmd: 'behaviour', device, behaviour: { ...behaviour, rollBackAfterMs: 500 } });
      }
    }
  }

  async function groupsOf(id: string): Promise<readonly Group[]> {
    const query = 'query ($id: ID!) { job(id: $id) { failureGroups { outcome code model count } } }';
    return (await ask<{ job: { failureGroups: Group[] } }>(hub, query, { id })).job.failureGroups;
  }

  async function countOf(filter: Readonly<Record<string, unknown>>): Promise<number> {
    const query = 'query ($filter: DeviceFilter!) { devices(filter: $filter) { totalCount } }';
    return (await ask<{ devices: { totalCount: number } }>(hub, query, { filter })).devices.totalCount;
  }

  it('stops at its canary where a board does not keep the image, says which one, and is taken back', async () => {
    const versions = [...new Set(boards.map(({ version }) => version))];
    for (const version of versions) {
      await publishedImage(
        version,
        boards.filter((board) => board.version === version).map(({ model }) => model),
      );
    }
    const firmwareImageId = await publishedImage(
      BAD,
      boards.map(({ model }) => model),
    );
    const sick = boards[1];
    if (sick === undefined) throw new Error('The story needs two boards.');
    const isSick = (device: string): boolean => sick.ids.indexOf(device) % BROKEN_SHARE === 0;
    await install(() => BAD, isSick);
    const canary = 2 * Math.ceil(DEVICES / 3);
    const rule = { outcomes: ['VERIFY_FAILED', 'UNKNOWN'], scope: 'JOB', count: 1, action: 'PAUSE' };
    const input = {
      firmwareImageId,
      devices: { all: true },
      waves: [{ count: canary, successThreshold: 1 }],
      abort: [rule],
      maxInFlight: 10,
    };
    const preview = await ask<{ previewJob: { targetCount: number; waves: number[]; argumentErrors: unknown[] } }>(
      hub,
      'query ($input: CreateJobInput!) { previewJob(input: $input) { targetCount waves argumentErrors { message } userErrors { message } } }',
      { input },
    );
    expect(preview.previewJob).toMatchObject({ targetCount: 2 * DEVICES, waves: [canary, 2 * DEVICES - canary], argumentErrors: [] });

    const id = await jobOf(hub, input, 'bad image');
    await eventually(
      () => readJob(hub, id),
      ({ state }) => state === 'PAUSED',
      120_000,
    );
    await steerJob(hub, 'cancelJob', id);
    const job = await finished(hub, id, 120_000);
    expect(sumOf(job)).toBe(2 * DEVICES);
    // The second wave never opened.
    expect(job.progress.cancelled).toBeGreaterThanOrEqual(2 * DEVICES - canary);
    const groups = await groupsOf(id);
    expect(groups.map(({ code, model, outcome }) => ({ code, model, outcome }))).toEqual([
      { outcome: 'VERIFY_FAILED', code: 'NOT_APPLIED_OR_ROLLED_BACK', model: sick.model },
    ]);
    const moved = await countOf({ firmwareVersion: BAD });
    expect(moved).toBe(job.progress.succeeded);

    await install(
      (model) => boards.find((board) => board.model === model)?.version ?? '',
      () => false,
    );
    const query =
      'mutation ($id: ID!) { revertJob(id: $id, idempotencyKey: "back") { job { id parentJobId } others { id } userErrors { message } } }';
    const { revertJob } = await ask<{
      revertJob: { job: { id: string; parentJobId: string }; others: { id: string }[]; userErrors: unknown[] };
    }>(hub, query, { id });
    expect(revertJob).toMatchObject({ job: { parentJobId: id }, userErrors: [] });
    const back = [revertJob.job, ...revertJob.others];
    expect(back).toHaveLength(versions.length);
    for (const each of back) expect(await finished(hub, each.id, 120_000)).toMatchObject({ conclusion: 'SUCCEEDED' });
    expect(await countOf({ firmwareVersion: BAD })).toBe(0);
  });
});
