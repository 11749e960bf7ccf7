/**
 * A fleet of simulated devices in a child process, controlled over JSON lines
 * (apps/simulator/README.md).
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '../eventually.js';
import { hubNodeOptions } from '../hub/hub-process.js';
import type { HubProcess } from '../hub/hub-process.js';

const simulatorMain = fileURLToPath(new URL('../../../apps/simulator/dist/program/main.js', import.meta.url));

export interface FleetOptions {
  readonly devices: number;
  readonly transport?: 'mqtt' | 'websocket' | 'mixed';
  readonly profile?: string;
  /** Decides the devices' ids: two fleets of one seed are the same devices. */
  readonly seed?: number;
  /**
   * Where the devices ask how to connect. Without it they connect to the hub directly, with the
   * fleet-wide secret.
   */
  readonly ota?: string;
  readonly args?: readonly string[];
}

/** What a device showed or did: its code, a crash, what it installed. */
const noticeEvents = ['code', 'crash', 'installed', 'assetsLoaded', 'updateFailed'] as const;

export interface FleetNotice {
  readonly event: (typeof noticeEvents)[number];
  readonly device: string;
  readonly code?: string;
  readonly reason?: string;
  readonly bytes?: number;
}

/** What the devices have seen: calls by tool over the fleet, and by device. */
interface FleetCounts {
  readonly tools: Readonly<Record<string, number>>;
  readonly devices: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A call that a device began to run; `at` in ms since the Unix epoch. */
export interface DeviceCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly at: number;
}

interface DeviceLevels {
  readonly volume: number;
  readonly brightness?: number;
  readonly theme?: string;
  readonly turns: number;
}

interface ShownAlert {
  readonly status: string;
  readonly message: string;
  readonly emotion: string;
}

export interface SimulatedFleet {
  /** Oldest first. */
  readonly notices: readonly FleetNotice[];
  /** Codes of all kinds of trouble so far, such as DEVICE_REFUSED. */
  readonly problems: readonly string[];
  /** The codes that this device has shown. */
  codesOf(device: string): readonly string[];
  /** The code that this device shows, once it does: the first, or the one after `former` others. */
  codeOf(device: string, former?: number): Promise<string>;
  counts(): Promise<FleetCounts>;
  /** The last 16 calls of each device, oldest first. */
  calls(): Promise<Readonly<Record<string, readonly DeviceCall[]>>>;
  /** Packets of sound that a device has said and played. */
  sound(device: string): Promise<{ readonly spoken: number; readonly heard: number }>;
  /** Where the knobs of each device are, and how often one was turned. */
  levels(): Promise<Readonly<Record<string, DeviceLevels>>>;
  /** The banners that a device showed, oldest first. */
  alerts(device: string): Promise<readonly ShownAlert[]>;
  /**
   * Sends one command and waits until it was carried out; rejects when the fleet did not understand
   * it.
   */
  perform(command: Readonly<Record<string, unknown>>): Promise<void>;
  /** Sends one command line, without waiting for an answer. */
  command(command: Readonly<Record<string, unknown>>): void;
  stop(): Promise<void>;
}

interface AnswerLine {
  readonly event: 'done' | 'error' | 'alerts' | 'calls' | 'levels' | 'sound';
  readonly id: number;
  readonly message?: string;
  readonly devices?: unknown;
}

function isAnswerLine(value: unknown): value is AnswerLine {
  return (
    typeof value === 'object' && value !== null && 'event' in value && 'id' in value && typeof value.id === 'number'
  );
}

interface CountsLine extends FleetCounts {
  readonly event: 'counts';
}

function isCountsLine(value: unknown): value is CountsLine {
  return typeof value === 'object' && value !== null && 'event' in value && value.event === 'counts';
}

interface ProblemLine {
  readonly event: 'problem';
  readonly code: string;
}

function isProblem(value: unknown): value is ProblemLine {
  return typeof value === 'object' && value !== null && 'event' in value && value.event === 'problem';
}

function isNotice(value: unknown): value is FleetNotice {
  return (
    typeof value === 'object' &&
    value !== null &&
    'event' in value &&
    noticeEvents.some((event) => event === value.event)
  );
}

/** Starts the fleet; its devices connect, and connect again, by themselves. */
export function startFleet(
  hub: Pick<HubProcess, 'httpPort' | 'mqttPort' | 'deviceSecret' | 'dataDir'>,
  options: FleetOptions,
): SimulatedFleet {
  const args = [
    '--devices',
    options.devices,
    '--transport',
    options.transport ?? 'mqtt',
    '--profile',
    options.profile ?? 'mixed',
    '--seed',
    options.seed ?? 1,
    '--reconnect-ms',
    200,
    '--json',
  ];
  const notices: FleetNotice[] = [];
  const problems: string[] = [];
  const codesOf = (device: string) =>
    notices.flatMap((notice) => (notice.event === 'code' && notice.device === device ? [notice.code ?? ''] : []));
  const road = options.ota === undefined ? ['--direct'] : ['--ota', options.ota, '--data-dir', hub.dataDir];
  const mqtt = hub.mqttPort === 0 ? [] : ['--mqtt-port', hub.mqttPort];
  const connection = ['--host', '127.0.0.1', '--http-port', hub.httpPort, ...mqtt];
  const child = spawn(
    process.execPath,
    [...hubNodeOptions, simulatorMain, ...[...args, ...connection, ...road].map(String), ...(options.args ?? [])],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, FLOTILLA_DEVICE_SECRET: hub.deviceSecret },
    },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const waiting: ((counts: FleetCounts) => void)[] = [];
  const performing = new Map<number, (answer: AnswerLine) => void>();
  let commands = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const parsed: unknown = JSON.parse(line);
    if (isNotice(parsed)) notices.push(parsed);
    else if (isProblem(parsed)) problems.push(parsed.code);
    else if (isCountsLine(parsed)) waiting.shift()?.(parsed);
    else if (isAnswerLine(parsed)) {
      performing.get(parsed.id)?.(parsed);
      performing.delete(parsed.id);
    }
  });
  const command = (message: Readonly<Record<string, unknown>>) =>
    void child.stdin.write(`${JSON.stringify(message)}\n`);
  const perform = (message: Readonly<Record<string, unknown>>): Promise<AnswerLine> =>
    new Promise((resolve, reject) => {
      const id = ++commands;
      performing.set(id, (answer) => {
        if (answer.event !== 'error') resolve(answer);
        else reject(new Error(`The simulator refused ${JSON.stringify(message)}: ${answer.message ?? ''}`));
      });
      command({ ...message, id });
    });
  return {
    notices,
    problems,
    codesOf,
    codeOf: (device, former = 0) =>
      eventually(
        () => codesOf(device)[former] ?? '',
        (code) => code !== '',
      ),
    command,
    perform: async (message) => void (await perform(message)),
    calls: async () =>
      (await perform({ cmd: 'calls', device: '*' })).devices as Readonly<Record<string, readonly DeviceCall[]>>,
    sound: async (device) => {
      const { devices } = await perform({ cmd: 'sound', device });
      return (
        (devices as Readonly<Record<string, { readonly spoken: number; readonly heard: number }>>)[device] ?? {
          spoken: 0,
          heard: 0,
        }
      );
    },
    levels: async () =>
      (await perform({ cmd: 'levels', device: '*' })).devices as Readonly<Record<string, DeviceLevels>>,
    alerts: async (device) => {
      const { devices } = await perform({ cmd: 'alerts', device });
      return (devices as Readonly<Record<string, readonly ShownAlert[]>>)[device] ?? [];
    },
    counts: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        command({ cmd: 'counts' });
      }),
    stop: async () => {
      child.stdin.end();
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Lets a device send a notification. */
export function notifyFrom(fleet: SimulatedFleet, device: string): void {
  fleet.command({ cmd: 'behaviour', device, behaviour: { kind: 'notification', method: 'notifications/spec' } });
}
