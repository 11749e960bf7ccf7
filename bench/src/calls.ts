/** Bench (a): recorded calls through the session layer, compared with Aedes alone. */
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { eventually } from '@flotilla/test/eventually';
import { hubNodeOptions } from '@flotilla/test/hub/hub-process';
import { startFleet } from '@flotilla/test/devices/simulated-fleet';
import { BENCH_DEVICE_SECRET, type ChildNews, type MeasureRequest } from './bench-messages.js';
import type { Figure } from './report.js';
import type { RoundTrips } from './round-trips.js';

/** Devices, each with one call in flight. */
const DEVICES = 1_000;

/** Below this rate the machine was busy with something else, and the result is not valid. */
const BASELINE_PER_SECOND_MIN = 35_000;

/** Maximum of runs until both baselines are undisturbed. */
const ATTEMPTS = 3;

export async function benchCalls(seconds: number): Promise<readonly Figure[]> {
  let comparison = await compare(seconds);
  for (let attempt = 1; attempt < ATTEMPTS && isDisturbed(comparison); attempt++) comparison = await compare(seconds);
  const { baselines, hub } = comparison;
  const baselinePerSecond = (baselines[0].perSecond + baselines[1].perSecond) / 2;
  const baselineCpu = (baselines[0].cpuMicrosecondsEach + baselines[1].cpuMicrosecondsEach) / 2;
  return [
    { name: 'bare Aedes, round trips', value: baselinePerSecond, unit: '/s', atLeast: BASELINE_PER_SECOND_MIN },
    { name: 'bare Aedes, CPU per round trip', value: baselineCpu, unit: 'µs' },
    { name: 'session layer, recorded calls', value: hub.perSecond, unit: '/s' },
    { name: 'session layer, CPU of the hub process per call', value: hub.cpuMicrosecondsEach, unit: 'µs' },
    { name: 'session layer / bare Aedes', value: hub.perSecond / baselinePerSecond, unit: '', atLeast: 0.3 },
  ];
}

interface Comparison {
  /** Before and after the hub, because the speed of a machine drifts. */
  readonly baselines: readonly [RoundTrips, RoundTrips];
  readonly hub: RoundTrips;
}

async function compare(seconds: number): Promise<Comparison> {
  const before = await roundTrips('bare-aedes.js', seconds, []);
  const hub = await roundTrips('session-layer.js', seconds, hubNodeOptions);
  const after = await roundTrips('bare-aedes.js', seconds, []);
  return { baselines: [before, after], hub };
}

function isDisturbed({ baselines }: Comparison): boolean {
  return baselines.some(({ perSecond }) => perSecond < BASELINE_PER_SECOND_MIN);
}

/** Starts a server as a child process, connects the devices and lets it measure. */
async function roundTrips(program: string, seconds: number, nodeOptions: readonly string[]): Promise<RoundTrips> {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
    execArgv: [...nodeOptions],
  });
  const seen: { -readonly [Key in keyof ChildNews]: ChildNews[Key] } = {};
  child.on('message', (news: ChildNews) => Object.assign(seen, news));
  try {
    const port = await eventually(
      () => seen.port,
      (value) => value !== undefined,
    );
    const fleet = startFleet(
      { httpPort: 1, mqttPort: port ?? 0, deviceSecret: BENCH_DEVICE_SECRET, dataDir: '' },
      { devices: DEVICES, profile: 'lamp' },
    );
    await eventually(
      () => seen.connected,
      (count) => count === DEVICES,
    );
    const request: MeasureRequest = { seconds, warmupSeconds: 2 };
    child.send(request);
    const result = await eventually(
      () => seen.result,
      (value) => value !== undefined,
      (seconds + 60) * 1_000,
    );
    await fleet.stop();
    if (!result) throw new Error(`${program} measured nothing`);
    return result;
  } finally {
    await ended(child);
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
