/**
 * The simulated fleet of `--demo`: the simulator as a child process that lives no longer than the hub. Its devices come in as boards do, by an enrolment link; its
 * microcontrollers are registered with the addresses at which they wait.
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

/** Devices of the demo: enough to see lists, filters and a bulk job, few enough to read. */
const DEMO_DEVICES = 40;
/** One of each kind. */
const DEMO_MICROCONTROLLERS = 3;
/** They enrol within seconds; nobody else should by this link. */
const LINK_LIFE_MS = 10 * 60_000;

export interface DemoFleetOptions {
  readonly enrolments: Pick<Registry['enrolments'], 'createLink' | 'register' | 'remove'>;
  readonly addresses: Pick<DeviceAddresses, 'otaUrl'>;
  /** Where the simulator keeps what its devices have in their flash. */
  readonly dataDir: string;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Starts the fleet. It ends when its standard input does, so also after a `kill -9` of the hub; `stop` waits for it. */
export async function startDemoFleet({
  enrolments,
  addresses,
  dataDir,
  logger,
}: DemoFleetOptions): Promise<{ stop(): Promise<void> }> {
  const expiresAt = Date.now() + LINK_LIFE_MS;
  const { token } = await enrolments.createLink({ name: 'demo', tags: ['demo'], maxDevices: DEMO_DEVICES, expiresAt });
  const main = fileURLToPath(import.meta.resolve('../../simulator/dist/main.js'));
  const counts = ['--devices', String(DEMO_DEVICES), '--mcpu', String(DEMO_MICROCONTROLLERS)];
  const options = [...counts, '--profile', 'mixed', '--json', '--ota', addresses.otaUrl(token), '--data-dir', dataDir];
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Its own process group: Ctrl-C goes to the hub, which stops the fleet in its turn.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  onBoards(child.stdout, (boards) => {
    registerBoards(enrolments, boards).catch((error: unknown) =>
      logger.warn({ err: error }, 'the microcontrollers of the demo are missing'),
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

/** Reads what the simulator says to its end, because a full pipe would stop it. */
function onBoards(output: Readable, take: (boards: readonly DemoBoard[]) => void): void {
  createInterface({ input: output }).on('line', (line) => {
    const parsed = boardsLine.safeParse(JSON.parse(line));
    if (parsed.success) take(parsed.data.boards);
  });
}

/** Their ports are new at each start, so those of the last start are registered anew; their history stays. */
async function registerBoards(enrolments: DemoFleetOptions['enrolments'], boards: readonly DemoBoard[]): Promise<void> {
  const devices: NewDevice[] = boards.map(({ address, profile }, index) => ({
    ...{
      deviceId: `demo-${profile}-${String(index + 1)}` as DeviceId,
      name: undefined,
      tags: ['demo', 'microcontroller'],
    },
    ...{ dialect: 'MCPU', transport: 'TCP', address, dialByAdmin: true },
  }));
  for (const { deviceId } of devices) await enrolments.remove(deviceId);
  await enrolments.register(devices);
}
