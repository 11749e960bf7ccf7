/**
 * Random faults of all processes, servers and links of a hub under load. Nothing accepted is lost,
 * nothing runs twice that must not, and everything works again soon after each fault.
 * `FLOTILLA_TEST_LONG=1` has 200 faults; `FLOTILLA_TEST_SEED=7` draws others.
 */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { DeviceWitness } from '../src/crash/device-witness.js';
import { recordOf, type RecordedJob } from '../src/crash/job-records.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { eventually } from '../src/eventually.js';
import { startFleetOfProcesses, type FleetOfProcesses } from '../src/faults/fleet-of-processes.js';
import * as histories from '../src/faults/histories.js';
import { ProcessFaults, type Fault } from '../src/faults/process-faults.js';
import { ONCE_TOOL, READING_TOOL, REPEATABLE_TOOL, SteadyLoad } from '../src/faults/steady-load.js';
import { FuzzDice } from '../src/fuzz/fuzz-dice.js';
import type { HubProcess } from '../src/hub/hub-process.js';
import { isRedisInstalled } from '../src/hub/redis-server.js';
import { online, onlineCount } from '../src/jobs/job-api.js';
import { PATIENCE } from '../src/patience.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
const FAULTS = isLong ? 200 : 10;
const DEVICES = 12;
/** What must hold from the end of each fault on, ms. */
const PRESENT_WITHIN_MS = 25_000;
const FULL_SPEED_WITHIN_MS = 30_000;
const FAULT_TAKES_MS = 60_000 * PATIENCE;

/** Collects the ids of the jobs whose end a webhook reported. */
async function openReceiver() {
  const jobs: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data: { jobId?: string } };
      jobs.push(data.jobId ?? '');
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { jobs, url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

describe.skipIf(!isRedisInstalled())(`a hub of several processes under faults (seed ${SEED})`, () => {
  let processes: FleetOfProcesses;
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let witness: DeviceWitness;
  const closers: (() => Promise<void> | void)[] = [];
  let load: SteadyLoad;
  let faults: readonly Fault[] = [];
  let receiver: Awaited<ReturnType<typeof openReceiver>>;
  let devices: readonly string[] = [];

  beforeAll(async () => {
    receiver = await openReceiver();
    closers.push(receiver.close);
    processes = await startFleetOfProcesses({ FLOTILLA_WEBHOOK_URLS: receiver.url });
    closers.push(processes.close);
    hub = processes.entry as HubProcess;
    fleet = startFleet(hub, {
      devices: DEVICES,
      seed: SEED,
      profile: 'screen-camera',
      transport: 'mixed',
      // Devices with a shorter keep-alive notice a half-open connection within the story.
      args: ['--keep-alive-seconds', '5'],
    });
    closers.push(fleet.stop);
    witness = new DeviceWitness(fleet);
    closers.push(() => witness.stop());
    await online(hub, DEVICES);
    const answer = await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }');
    devices = answer.devices.nodes.map(({ id }) => id);
    const policy = 'mutation ($input: ToolPolicyInput!) { setToolPolicy(input: $input) { userErrors { message } } }';
    for (const [pattern, idempotent] of [
      [ONCE_TOOL, false],
      [REPEATABLE_TOOL, true],
    ])
      await ask(hub, policy, { input: { pattern, idempotent, disruptive: false } });
    const webhook =
      'mutation ($url: String!) { createWebhook(input: { url: $url, types: ["job.finished"] }) { secret } }';
    await ask(hub, webhook, { url: receiver.url });
    // The load draws as it goes on, so its dice are others than those of the faults.
    load = new SteadyLoad(hub, new FuzzDice(SEED + 1), devices);
    faults = new ProcessFaults(processes, new FuzzDice(SEED)).deal(FAULTS);
    load.start();
  });

  afterAll(async () => {
    for (const close of closers.reverse()) await close();
  });

  /** The outcomes of a call on each device that did not succeed. */
  async function failedCalls(): Promise<readonly string[]> {
    // Not those of the steady load, some of which never have an answer yet.
    const calls = await Promise.all(devices.map((device) => load.call(device, READING_TOOL)));
    const failed = calls.filter(({ outcome }) => outcome !== 'SUCCEEDED');
    return failed.map(({ deviceId, outcome, code, message }) => `${deviceId} ${outcome} ${code}: ${message}`);
  }

  async function recordsOfJobs(): Promise<ReadonlyMap<string, RecordedJob>> {
    const records = new Map<string, RecordedJob>();
    for (const { id } of load.jobs) if (id !== undefined) records.set(id, await recordOf(hub, id));
    return records;
  }

  async function survive(fault: Fault, label: string): Promise<void> {
    load.createJob();
    await pause(300);
    const heal = await fault.begin();
    await pause(fault.lastsMs);
    await heal();
    await processes.complete();
    const healedAt = Date.now();
    // A caller whose connection was cut asks again.
    const present = () => onlineCount(hub).catch(String);
    await eventually(present, (count) => count === DEVICES, PRESENT_WITHIN_MS).catch((error: unknown) => {
      throw new Error(`${label}: presence is wrong. ${String(error)}`);
    });
    await eventually(failedCalls, (failed) => failed.length === 0, FULL_SPEED_WITHIN_MS).catch((error: unknown) => {
      throw new Error(`${label}: calls fail. ${String(error)}`);
    });
    if (isLong) process.stderr.write(`${label}: works again after ${Date.now() - healedAt} ms\n`);
    const codes = [...load.refusals.keys(), ...load.calls.flatMap(({ code }) => code ?? [])];
    expect(histories.unclearErrors(codes), label).toEqual([]);
  }

  it(`works again after each of ${FAULTS} random faults`, { timeout: FAULTS * FAULT_TAKES_MS }, async () => {
    for (const [index, fault] of faults.entries())
      await survive(fault, `seed ${SEED}, fault ${index + 1}: ${fault.name}`);
  });

  it(
    'has lost nothing, repeated nothing, and reports what its devices did',
    { timeout: 3 * FAULT_TAKES_MS },
    async () => {
      await load.stop();
      // Late answers still correct rows and counters.
      const contradictions = async () => {
        const runs = await witness.runs();
        const rows = await processes.postgres.query<{ id: string; outcome: string }>('SELECT id, outcome FROM call');
        return [
          ...histories.callsContradict(load.calls, runs),
          ...histories.jobsContradict(load.jobs, await recordsOfJobs(), runs),
          ...histories.rowsContradict(load.calls, rows),
        ];
      };
      await eventually(contradictions, (found) => found.length === 0, 90_000);
      // A story in which next to nothing ran would prove nothing.
      expect(load.calls.filter(({ outcome }) => outcome === 'SUCCEEDED').length).toBeGreaterThan(FAULTS * DEVICES);
      const ids = load.jobs.map(({ id }) => id);
      await eventually(
        () => ids.filter((id) => !receiver.jobs.includes(id ?? '')),
        (missing) => missing.length === 0,
        90_000,
      );
      const ended = await processes.postgres.query<{ id: string }>(
        `SELECT data ->> 'jobId' AS id FROM event WHERE type = 'job.finished'`,
      );
      expect(ended.map(({ id }) => id).sort()).toEqual([...ids].sort());
    },
  );
});
