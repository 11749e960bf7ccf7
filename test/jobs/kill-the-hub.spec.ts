/**
 * Kills the hub at random moments, with jobs of all shapes under way and an operator at work.
 * Nothing accepted is lost, nothing runs twice that must not, and the hub reports what its devices
 * did. src/crash/job-promises.ts checks each promise. [jobs §19]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { DeviceWitness, type DeviceRun } from '../src/crash/device-witness.js';
import * as promises from '../src/crash/job-promises.js';
import { callsOf, jobsNamed, movesOf, recordOf, type RecordedJob } from '../src/crash/job-records.js';
import { faults, JobShapes, policies } from '../src/crash/job-shapes.js';
import { Operator, type MadeJob } from '../src/crash/operator.js';
import { eventually } from '../src/eventually.js';
import { FuzzDice } from '../src/fuzz/fuzz-dice.js';
import { ask } from '../src/api/graphql-client.js';
import { makeDataDir, removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const KILLS_PER_ROUND = isLong ? 8 : 4;
/** Another seed: `FLOTILLA_TEST_SEED=7 npm test -- test/jobs/kill-the-hub.spec.ts`. */
const SEED = Number(process.env['FLOTILLA_TEST_SEED'] ?? 1);
const ROUNDS = isLong ? 7 : 1;
/** A busy machine needs most of a minute for what takes a quarter of one otherwise. */
const ROUND_WITHIN_MS = 400_000;
const DEVICES = 50;
const JOBS_PER_LIFE = 3;
/** Between two acts of the operator, ms. */
const ACT_EVERY_MS = 60;

const env = { FLOTILLA_VERIFY_REBOOT_SECONDS: '6', FLOTILLA_LOG_LEVEL: 'warn' };

describe('kill -9 of the hub during jobs', () => {
  let hub: HubProcess | undefined;
  let fleet: SimulatedFleet | undefined;
  let witness: DeviceWitness | undefined;
  let dataDir = makeDataDir();
  let ports: Readonly<Record<string, string>> = {};

  const start = async (): Promise<HubProcess> => {
    hub = await startHub({ dataDir, embedded: true, env: { ...env, ...ports } });
    // The devices come back to the same address, as real ones do.
    ports = { FLOTILLA_HTTP_PORT: String(hub.httpPort), FLOTILLA_MQTT_PORT: String(hub.mqttPort) };
    return hub;
  };

  afterEach(async () => {
    witness?.stop();
    await fleet?.stop();
    await hub?.stop();
    removeDataDir(dataDir);
    dataDir = makeDataDir();
    ports = {};
    witness = fleet = hub = undefined;
  });

  async function setPolicies(current: HubProcess): Promise<void> {
    const query = 'mutation ($input: ToolPolicyInput!) { setToolPolicy(input: $input) { userErrors { message } } }';
    for (const input of policies) {
      const { setToolPolicy } = await ask<{ setToolPolicy: { userErrors: unknown[] } }>(current, query, { input });
      expect(setToolPolicy.userErrors).toEqual([]);
    }
  }

  /** One life of a hub, from its start to its violent end. */
  async function live(
    current: HubProcess,
    operator: Operator,
    dice: FuzzDice,
    lamps: readonly string[],
  ): Promise<void> {
    operator.createJobs(current, JOBS_PER_LIFE);
    // Some kills come while the hub takes its jobs over, most in the middle of the work.
    if (dice.below(4) > 0) await online(current, DEVICES).catch(() => undefined);
    const until = Date.now() + 100 + dice.below(900);
    while (Date.now() < until) {
      operator.act(current, lamps);
      await pause(dice.below(2 * ACT_EVERY_MS));
    }
    await current.kill();
    await operator.settled();
  }

  async function recordsOf(current: HubProcess, operator: Operator): Promise<ReadonlyMap<MadeJob, RecordedJob>> {
    const records = new Map<MadeJob, RecordedJob>();
    for (const made of operator.jobs) if (made.id !== undefined) records.set(made, await recordOf(current, made.id));
    return records;
  }

  /** Lets everything go on to its end, and cancels what would not come to one. */
  async function drain(current: HubProcess, operator: Operator): Promise<void> {
    operator.createJobs(current, 0);
    await operator.settled();
    await online(current, DEVICES);
    const live = async () => {
      const records = await recordsOf(current, operator);
      return [...records].filter(([, { state }]) => state !== 'FINISHED').map(([made]) => made);
    };
    for (const made of await live()) if (!made.shape.isLeftAlone) await operator.steer(current, made, 'resumeJob');
    await pause(1_500);
    for (const made of await live()) await operator.steer(current, made, 'cancelJob');
    await eventually(live, (jobs) => jobs.length === 0, 60_000);
    // Answers that come too late still correct what is unknown.
    await pause(1_500);
  }

  async function violationsOf(
    current: HubProcess,
    operator: Operator,
    all: readonly DeviceRun[],
  ): Promise<readonly string[]> {
    const records = await recordsOf(current, operator);
    const found: string[] = [];
    const rounds = [];
    for (const [made, job] of records) {
      const round = { job, made, runs: promises.runsOf(made.shape, all), calls: await callsOf(current, job.id) };
      rounds.push(round);
      found.push(...promises.countersDiffer(job), ...promises.runsContradict(round), ...promises.wavesOverlap(round));
      found.push(...promises.paceExceeded(round), ...promises.ruleMissed(round), ...promises.answersBroken(round));
      found.push(...promises.movesBroken(job, await movesOf(current, job.id)));
    }
    found.push(...promises.restartsContradict(rounds, all), ...promises.devicesShared(rounds, all));
    return [...found, ...promises.keyedCallsRepeated(operator.calls, all)];
  }

  it.each(Array.from({ length: ROUNDS }, (_, round) => SEED + round))(
    `breaks no promise when it is killed ${KILLS_PER_ROUND} times (seed %i)`,
    { timeout: ROUND_WITHIN_MS },
    async (seed) => {
      const dice = new FuzzDice(seed);
      const operator = new Operator(dice, new JobShapes(dice));
      let current = await start();
      await setPolicies(current);
      const behaviours = faults.flatMap((fault) => ['--behaviour', JSON.stringify(fault)]);
      fleet = startFleet(current, {
        devices: DEVICES,
        seed,
        args: ['--answer-delay-ms', '15', '--boot-ms', '150', ...behaviours],
      });
      witness = new DeviceWitness(fleet);
      await online(current, DEVICES);
      const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(
        current,
        '{ devices(filter: { hasTool: "self.lamp.turn_off" }, first: 200) { nodes { id } } }',
      );
      const lamps = devices.nodes.map(({ id }) => id);
      let before: ReadonlyMap<MadeJob, RecordedJob> = new Map();
      for (let kill = 1; kill <= KILLS_PER_ROUND; kill++) {
        await live(current, operator, dice, lamps);
        current = await start();
        const after = await recordsOf(current, operator);
        const changed = [...before].flatMap(([made, job]) =>
          promises.decisionsChanged(job, after.get(made) as RecordedJob),
        );
        expect(
          [...changed, ...[...after.values()].flatMap(promises.countersDiffer)],
          `seed ${seed}, after kill ${kill}`,
        ).toEqual([]);
        before = after;
      }
      await drain(current, operator);
      // Each request made one job, however often it was asked for.
      const made = operator.jobs.map(({ id, shape }) => ({ id, name: shape.name }));
      expect(byName(await jobsNamed(current))).toEqual(byName(made));
      const runs = await witness.runs();
      expect(await violationsOf(current, operator, runs), `seed ${seed}`).toEqual([]);
      // A story in which next to nothing ran would prove nothing.
      expect(runs.length).toBeGreaterThan(DEVICES);
    },
  );

  it('shows no absent device as online right after the crash', async () => {
    const first = await start();
    fleet = startFleet(first, { devices: 10, seed: 5 });
    await online(first, 10);
    await first.kill();
    await fleet.stop();
    fleet = undefined;
    const second = await start();
    const { devices } = await ask<{
      devices: {
        nodes: { presence: string; sessions: { disconnectedAt: string | null; closeReason: string | null }[] }[];
      };
    }>(second, '{ devices { nodes { presence sessions(first: 1) { disconnectedAt closeReason } } } }');
    expect(devices.nodes.length).toBeGreaterThanOrEqual(10);
    for (const device of devices.nodes) {
      expect(device.presence).toBe('OFFLINE');
      expect(device.sessions[0]?.disconnectedAt).not.toBeNull();
    }
  });
});

function byName<Job extends { readonly name: string }>(jobs: readonly Job[]): readonly Job[] {
  return [...jobs].sort((one, other) => (one.name < other.name ? -1 : 1));
}
