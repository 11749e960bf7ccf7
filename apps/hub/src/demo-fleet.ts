/** The simulated fleet of `--demo`: the simulator as a child process that lives no longer than the hub. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Devices of the demo: enough to see lists, filters and a bulk job, few enough to read. */
const DEMO_DEVICES = 40;

/** Where the fleet is to connect, and with which secret. */
export interface DemoFleetOptions {
  readonly host: string;
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly deviceSecret: string;
}

/** Starts the fleet. It ends when its standard input does, so also after a `kill -9` of the hub; `stop` waits for it. */
export function startDemoFleet(options: DemoFleetOptions): { stop(): Promise<void> } {
  const main = fileURLToPath(import.meta.resolve('../../simulator/dist/main.js'));
  const connection = ['--host', options.host, '--http-port', String(options.httpPort), '--mqtt-port', String(options.mqttPort)];
  const child = spawn(
    process.execPath,
    [main, '--devices', String(DEMO_DEVICES), '--transport', 'mixed', '--profile', 'mixed', '--json', ...connection],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, FLOTILLA_DEVICE_SECRET: options.deviceSecret },
      // Its own process group: Ctrl-C goes to the hub, which stops the fleet in its turn.
      detached: true,
    },
  );
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
