/** The simulated fleet of `--demo`: the simulator as a child process that lives no longer than the hub. Its devices come in as boards do, by an enrolment link. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DeviceAddresses } from '@flotilla/gateway';
import type { Registry } from '@flotilla/registry';

/** Devices of the demo: enough to see lists, filters and a bulk job, few enough to read. */
const DEMO_DEVICES = 40;
/** They enrol within seconds; nobody else should by this link. */
const LINK_LIFE_MS = 10 * 60_000;

export interface DemoFleetOptions {
  readonly enrolments: Pick<Registry['enrolments'], 'createLink'>;
  readonly addresses: Pick<DeviceAddresses, 'otaUrl'>;
  /** Where the simulator keeps what its devices have in their flash. */
  readonly dataDir: string;
}

/** Starts the fleet. It ends when its standard input does, so also after a `kill -9` of the hub; `stop` waits for it. */
export async function startDemoFleet({ enrolments, addresses, dataDir }: DemoFleetOptions): Promise<{ stop(): Promise<void> }> {
  const expiresAt = Date.now() + LINK_LIFE_MS;
  const { token } = await enrolments.createLink({ name: 'demo', tags: ['demo'], maxDevices: DEMO_DEVICES, expiresAt });
  const main = fileURLToPath(import.meta.resolve('../../simulator/dist/main.js'));
  const options = [
    '--devices',
    String(DEMO_DEVICES),
    '--profile',
    'mixed',
    '--json',
    '--ota',
    addresses.otaUrl(token),
    '--data-dir',
    dataDir,
  ];
  const child = spawn(process.execPath, [main, ...options], {
    stdio: ['pipe', 'ignore', 'inherit'],
    // Its own process group: Ctrl-C goes to the hub, which stops the fleet in its turn.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  return {
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
