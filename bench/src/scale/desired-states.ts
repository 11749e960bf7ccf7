/**
 * Desired states over connected devices: how fast an edit reaches all of them, whether a device
 * that connects again is in sync in time, and what the fleet costs at rest.
 */
import { fork } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { SimulatedFleet } from '@flotilla/test/devices/simulated-fleet';
import { eventually } from '@flotilla/test/eventually';
import { hubNodeOptions, makeDataDir, removeDataDir, startHub, type HubProcess } from '@flotilla/test/hub/hub-process';
import {
  createDesiredState,
  disableDesiredState,
  editDesiredState,
  readDesiredState,
  type DesiredStateNode,
} from '@flotilla/test/jobs/desired-state-api';
import type { ChildNews, RestCost } from '../bench-messages.js';
import { embeddedDatabaseUrl } from '../embedded-database.js';
import type { Figure } from '../report.js';
import { residentBytes } from '../resident-bytes.js';
import { connectFleet, spent, type MeasuredHub } from './measured-hub.js';
import { processWithArgument } from './processor-time.js';

const VOLUME = 'self.audio_speaker.set_volume';
const EDITS = 5;
/** Devices that lose their connection during an edit, and how long they are away, ms. */
const LOST = 100;
const AWAY_MS = 5_000;
const REST_MS = 60_000;
const WITHIN_MS = 300_000;
/** Between two questions for the summary, ms: they share the two cores. The hub takes the times. */
const LOOK_EVERY_MS = 250;
/** How long after its connection a device may be in sync: its tools are listed first. */
const READY_MS = 4_000;

export async function benchDesiredStates(devices: number): Promise<readonly Figure[]> {
  return [...(await connectedFigures(devices)), ...(await restFigures())];
}

/** Of many devices, without sockets. */
async function restFigures(): Promise<readonly Figure[]> {
  const child = fork(fileURLToPath(new URL('desired-at-rest.js', import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: [...hubNodeOptions, '--expose-gc'],
  });
  const rest = await new Promise<RestCost>((resolve, reject) => {
    let found: RestCost | undefined;
    child.on('message', (news: ChildNews) => (found = news.rest));
    child.once('exit', () =>
      found === undefined ? reject(new Error('The desired state at rest measured nothing.')) : resolve(found),
    );
  });
  const name = `desired state of ${rest.devices} devices at rest, without sockets`;
  return [
    { name: `${name}, CPU of the worker`, value: rest.cpuPercent, unit: '% of a core', atMost: 2 },
    { name: `${name}, sets`, value: rest.sets, unit: '', atMost: 0 },
    { name: `${name}, reads of the sweep`, value: rest.readsPerSecond, unit: 'reads/s' },
    { name: `${name}, growth of memory in two minutes`, value: rest.memoryBytes / 2 ** 20, unit: 'MB' },
  ];
}

async function connectedFigures(devices: number): Promise<readonly Figure[]> {
  const dataDir = makeDataDir();
  const api = await startHub({ dataDir, embedded: true, env: { FLOTILLA_LOG_LEVEL: 'warn' } });
  const database = new pg.Client({ connectionString: embeddedDatabaseUrl(api) });
  let fleet: SimulatedFleet | undefined;
  try {
    await database.connect();
    const hub: MeasuredHub = { api, pids: [api.pid], postmaster: processWithArgument('postgres', dataDir), database };
    ({ fleet } = await connectFleet(hub, api, { devices, total: devices, seed: 1 }));
    const world = { api, database, fleet, hub };
    const edits = await editAll(world);
    const returned = await comeBack(world, edits.state);
    const kept = await atRest(hub);
    // Compared with the same fleet: pings and polls of devices begin minutes after they connect.
    await disableDesiredState(api, edits.state.id);
    const unkept = await atRest(hub);
    const named = (name: string) => `desired state of ${edits.covered} devices: ${name}`;
    return [
      { name: named('first, 95 % in sync'), value: edits.first, unit: 's' },
      { name: named(`edit, 95 % in sync, worst of ${EDITS}`), value: Math.max(...edits.t95), unit: 's', atMost: 3 },
      { name: named(`edit, all in sync, worst of ${EDITS}`), value: Math.max(...edits.all), unit: 's' },
      { name: named('edit, CPU of the hub per device'), value: edits.cpu.hub, unit: 'µs' },
      { name: named('edit, CPU of PostgreSQL per device'), value: edits.cpu.postgres, unit: 'µs' },
      { name: named('devices set more or less than once per edit'), value: edits.odd, unit: '', atMost: 0 },
      { name: named('sets by an edit that changes no value'), value: edits.useless, unit: '', atMost: 0 },
      { name: named('in sync after a connection, p99'), value: returned, unit: 's', atMost: READY_MS / 1_000 },
      { name: named('at rest, CPU of the hub, added'), value: kept.hub - unkept.hub, unit: '% of a core', atMost: 2 },
      { name: named('at rest, CPU of the hub'), value: kept.hub, unit: '% of a core' },
      {
        name: named('at rest, CPU of PostgreSQL, added'),
        value: kept.postgres - unkept.postgres,
        unit: '% of a core',
      },
      { name: named('at rest, growth of memory in a minute'), value: kept.megabytes, unit: 'MB' },
    ];
  } finally {
    await database.end();
    await fleet?.stop();
    await api.stop();
    removeDataDir(dataDir);
  }
}

interface World {
  readonly api: HubProcess;
  readonly database: pg.Client;
  readonly fleet: SimulatedFleet;
  readonly hub: MeasuredHub;
}

const planOf = (volume: number, more: Readonly<Record<string, unknown>> = {}) => ({
  name: 'bench',
  devices: { hasTool: VOLUME },
  tool: VOLUME,
  arguments: { volume },
  maxInFlight: 500,
  ...more,
});

async function editAll(world: World) {
  const { api, fleet, hub } = world;
  let state = await createDesiredState(api, planOf(10), 'bench');
  const first = await converged(world, state);
  const covered = first.state.summary.targeted;
  const [t95, all]: [number[], number[]] = [[], []];
  const setsBefore = await setsOf(fleet);
  const cpuBefore = spent(hub);
  for (let edit = 1; edit <= EDITS; edit++) {
    state = await editDesiredState(api, await current(api, state), planOf(10 + edit));
    const { seconds, state: ended } = await converged(world, state);
    t95.push(ended.summary.t95Seconds ?? Infinity);
    all.push(seconds);
  }
  const cpuAfter = spent(hub);
  const setsAfter = await setsOf(fleet);
  const odd = [...setsAfter].filter(([id, count]) => count - (setsBefore.get(id) ?? 0) !== EDITS).length;
  state = await editDesiredState(api, await current(api, state), planOf(10 + EDITS, { priority: 1 }));
  await converged(world, state);
  const useless = sum(await setsOf(fleet)) - sum(setsAfter);
  const perSet = (micros: number) => micros / (EDITS * covered);
  const cpu = { hub: perSet(cpuAfter.hub - cpuBefore.hub), postgres: perSet(cpuAfter.postgres - cpuBefore.postgres) };
  return { state, covered, first: first.state.summary.t95Seconds ?? Infinity, t95, all, odd, useless, cpu };
}

/** Seconds of the slowest but one percent, from the connection to the state IN_SYNC. */
async function comeBack({ api, database, fleet }: World, former: DesiredStateNode): Promise<number> {
  const { rows } = await database.query<{ id: string }>(
    'SELECT device_id AS id FROM desired_state_target WHERE desired_state_id = $1 ORDER BY md5(device_id) LIMIT $2',
    [former.id, LOST],
  );
  const ids = rows.map(({ id }) => id);
  for (const device of ids) fleet.command({ cmd: 'disconnect', device, how: 'abrupt', forMs: AWAY_MS });
  const away = () =>
    count(database, 'SELECT count(*)::int AS count FROM device WHERE id = ANY ($1) AND NOT online', ids);
  await eventually(away, (found) => found === ids.length, WITHIN_MS);
  const state = await editDesiredState(api, await current(api, former), planOf(50));
  await eventually(
    () => outstanding(database, state),
    (found) => found === 0,
    WITHIN_MS,
  );
  const delays = await database.query<{ seconds: number }>(
    `SELECT extract(epoch FROM t.since - d.connected_at)::float8 AS seconds
     FROM desired_state_target t JOIN device d ON d.id = t.device_id
     WHERE t.desired_state_id = $1 AND t.device_id = ANY ($2) ORDER BY 1`,
    [state.id, ids],
  );
  return delays.rows[Math.ceil(delays.rows.length * 0.99) - 1]?.seconds ?? Infinity;
}

/** Waits until all covered devices are in sync with this generation; returns the seconds. */
async function converged({ api, database }: World, state: DesiredStateNode) {
  const startedAt = performance.now();
  const read = async () => {
    await pause(LOOK_EVERY_MS);
    return current(api, state);
  };
  await eventually(read, ({ summary }) => summary.t95Seconds !== null, WITHIN_MS);
  await eventually(
    () => outstanding(database, state),
    (found) => found === 0,
    WITHIN_MS,
  );
  return { seconds: (performance.now() - startedAt) / 1_000, state: await read() };
}

/** Devices that are not in sync with this generation. */
function outstanding(database: pg.Client, { id, generation }: DesiredStateNode): Promise<number> {
  return count(
    database,
    `SELECT count(*)::int AS count FROM desired_state_target
     WHERE desired_state_id = $1 AND (state <> 'IN_SYNC' OR observed_generation < $2)`,
    id,
    generation,
  );
}

function current(api: HubProcess, { id }: DesiredStateNode): Promise<DesiredStateNode> {
  return readDesiredState(api, id);
}

async function count(database: pg.Client, text: string, ...values: unknown[]): Promise<number> {
  const { rows } = await database.query<{ count: number }>(text, values);
  return rows[0]?.count ?? 0;
}

/** Sets that each device has received, by device. */
async function setsOf(fleet: SimulatedFleet): Promise<ReadonlyMap<string, number>> {
  const { devices } = await fleet.counts();
  return new Map(Object.entries(devices).flatMap(([id, tools]) => (tools[VOLUME] ? [[id, tools[VOLUME]]] : [])));
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, each) => total + each, 0);
}

/** Percent of one core, and how much memory grew meanwhile. */
async function atRest(hub: MeasuredHub) {
  await pause(10_000);
  const [before, bytes] = [spent(hub), residentBytes(hub.api)];
  await pause(REST_MS);
  const after = spent(hub);
  const percent = (micros: number) => (micros / (REST_MS * 1_000)) * 100;
  return {
    hub: percent(after.hub - before.hub),
    postgres: percent(after.postgres - before.postgres),
    megabytes: (residentBytes(hub.api) - bytes) / 2 ** 20,
  };
}
