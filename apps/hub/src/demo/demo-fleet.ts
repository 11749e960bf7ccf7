/**
 * The simulated fleet of `--demo`: the simulator as a child process that ends with the hub. Its
 * devices enrol by a link; its microcontrollers are registered with their addresses.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { DeviceAddresses } from '@flotilla/gateway';
import type { DeviceId } from '@flotilla/mcp';
import type { NewDevice, Registry } from '@flotilla/registry';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createDemoLink } from './demo-link.js';

/** Enough for lists, filters and a bulk job, and few enough to read. */
const DEMO_DEVICES = 40;
/** One of each kind. */
const DEMO_MICROCONTROLLERS = 3;
/** People turn the volume of the first devices, so that the desired state of the demo has work. */
const knobs = ['--knob', 'volume:20', '--knob-devices', '4'];
/** One model has firmware that crashes, another one poor Wi-Fi, so that alerts have a reason. */
const mishaps = [
  { kind: 'crashes', perHour: 1, version: '1.8.2' },
  { kind: 'wifiDrops', perHour: 1, seconds: 120, board: 'lichuang-dev' },
].flatMap((behaviour) => ['--behaviour', JSON.stringify(behaviour)]);

interface DemoFleetOptions {
  readonly enrolments: Pick<Registry['enrolments'], 'createLink' | 'links' | 'register' | 'remove' | 'revokeLink'>;
  readonly addresses: Pick<DeviceAddresses, 'otaUrl'>;
  /** Where the simulator stores the flash of its devices. */
  readonly dataDir: string;
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Starts the fleet. It ends with its standard input, so also after a `kill -9` of the hub. `stop`
 * waits for its end.
 */
export async function startDemoFleet({
  enrolments,
  addresses,
  dataDir,
  logger,
}: DemoFleetOptions): Promise<{ stop(): Promise<void> }> {
  const token = await createDemoLink(enrolments, DEMO_DEVICES, Date.now());
  const main = fileURLToPath(new URL('../../../simulator/dist/program/main.js', import.meta.url));
  const counts = ['--devices', String(DEMO_DEVICES), '--mcpu', String(DEMO_MICROCONTROLLERS)];
  const options = [
    ...counts,
    ...knobs,
    ...mishaps,
    '--profile',
    'mixed',
    '--json',
    '--ota',
    addresses.otaUrl(token),
    '--data-dir',
    dataDir,
  ];
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // In a process group apart from the hub: Ctrl-C reaches the hub, which then stops the fleet.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  onBoards(child.stdout, (boards) => {
    registerBoards(enrolments, boards).catch((error: unknown) =>
      logger.warn({ err: error }, 'the microcontrollers of the demo could not be registered'),
    );
  });
  return {
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

const boardsLine = z.object({
  event: z.literal('boards'),
  boards: z.array(z.object({ address: z.string(), profile: z.string() })),
});
type DemoBoard = z.infer<typeof boardsLine>['boards'][number];

/** Reads all output of the simulator, because a full pipe would block it. */
function onBoards(output: Readable, take: (boards: readonly DemoBoard[]) => void): void {
  createInterface({ input: output }).on('line', (line) => {
    const parsed = boardsLine.safeParse(JSON.parse(line));
    if (parsed.success) take(parsed.data.boards);
  });
}

/** Registers the boards again, because their ports change with each start. Their history stays. */
async function registerBoards(enrolments: DemoFleetOptions['enrolments'], boards: readonly DemoBoard[]): Promise<void> {
  const devices: NewDevice[] = boards.map(({ address, profile }, index) => ({
    deviceId: `demo-${profile}-${String(index + 1)}` as DeviceId,
    name: undefined,
    tags: ['demo', 'microcontroller'],
    dialect: 'MCPU',
    transport: 'TCP',
    address,
    dialByAdmin: true,
  }));
  for (const { deviceId } of devices) await enrolments.remove(deviceId);
  await enrolments.register(devices);
}
