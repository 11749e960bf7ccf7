/** A recurring job on the built hub: each due time starts one job, also over a kill -9. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { eventually } from '../src/eventually.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

const DEVICES = 6;
const VOLUME = 'self.audio_speaker.set_volume';
const steppedClock = fileURLToPath(new URL('../src/faults/stepped-clock.mjs', import.meta.url));

interface RecurringNode {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly nextRuns: readonly string[];
  readonly jobs: { readonly nodes: readonly { readonly id: string; readonly conclusion: string | null }[] };
}

describe('a recurring job', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let folder: string;
  let clockFile: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'flotilla-clock-'));
    clockFile = path.join(folder, 'ahead');
    hub = await startHub({ env: clockEnvironment() });
    fleet = startFleet(hub, { devices: DEVICES, profile: 'mixed' });
    await online(hub, DEVICES);
  });

  afterAll(async () => {
    await fleet.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
    rmSync(folder, { recursive: true });
  });

  const clockEnvironment = () => ({
    FLOTILLA_TEST_CLOCK: clockFile,
    NODE_OPTIONS: `--import ${steppedClock}`,
  });

  /** Sets the clock of the hub to 3 s before the next full minute. */
  function stepToNextMinute(): void {
    const now = Date.now();
    writeFileSync(clockFile, String(60_000 - (now % 60_000) - 3_000));
    process.kill(hub.pid, 'SIGUSR2');
  }

  async function created(name: string, cron: string): Promise<RecurringNode> {
    const input = {
      name,
      cron,
      timeZone: 'Europe/Berlin',
      job: { tool: VOLUME, arguments: { volume: 33 }, devices: { all: true } },
    };
    const { createRecurringJob } = await ask<{
      createRecurringJob: { recurringJob: RecurringNode | null; userErrors: readonly unknown[] };
    }>(
      hub,
      `mutation ($input: RecurringJobInput!, $key: String!) { createRecurringJob(input: $input, idempotencyKey: $key) {
        recurringJob { id name cron nextRuns jobs { nodes { id conclusion } } } userErrors { code path } } }`,
      { input, key: name },
    );
    expect(createRecurringJob.userErrors).toEqual([]);
    if (createRecurringJob.recurringJob === null) throw new TypeError('It was not created.');
    return createRecurringJob.recurringJob;
  }

  async function read(id: string): Promise<RecurringNode> {
    const query =
      'query ($id: ID!) { recurringJob(id: $id) { id name cron nextRuns jobs { nodes { id conclusion } } } }';
    return (await ask<{ recurringJob: RecurringNode }>(hub, query, { id })).recurringJob;
  }

  it('runs once at its time, also if the hub is killed then', async () => {
    const { id, nextRuns } = await created('Each minute', '* * * * *');
    expect(nextRuns).toHaveLength(5);
    stepToNextMinute();
    const hasRun = ({ jobs }: RecurringNode) => jobs.nodes.length > 0;
    const [first] = (await eventually(() => read(id), hasRun, 30_000)).jobs.nodes;
    await hub.kill();
    // It looks for runs that are due before it is ready.
    hub = await startHub({ dataDir: hub.dataDir, env: clockEnvironment() });
    expect((await read(id)).jobs.nodes.map((job) => job.id)).toEqual([first?.id]);
    await ask(hub, 'mutation ($id: ID!) { deleteRecurringJob(id: $id) { deletedId } }', { id });
    const job = await ask<{ job: { createdBy: string } }>(hub, 'query ($id: ID!) { job(id: $id) { createdBy } }', {
      id: first?.id,
    });
    expect(job).toEqual({ job: { createdBy: 'recurring:Each minute' } });
  });
});
