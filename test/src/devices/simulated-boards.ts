/**
 * Simulated microcontrollers in a child process, with the addresses at which they accept
 * connections (apps/simulator/README.md).
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

const simulatorMain = fileURLToPath(new URL('../../../apps/simulator/dist/program/main.js', import.meta.url));

interface BoardView {
  /** `host:port` at which it is dialled; of one that comes by itself its id. */
  readonly address: string;
  readonly profile: 'esp32' | 'avr' | 'generic';
  readonly fault: string;
  readonly connections: number;
  /** How often the hub rejected it. */
  readonly refusals: number;
  readonly outputs: Readonly<Record<string, boolean | number>>;
  readonly tools: Readonly<Record<string, number>>;
}

export interface SimulatedBoards {
  /** As they are now; in the order in which they were made. */
  views(): Promise<readonly BoardView[]>;
  /** Cuts the connection of one, as its reset button does. */
  reset(address: string): void;
  /**
   * A further one, which comes to the hub by itself with the credential that `registerDevice` gave.
   */
  dialIn(credential: Readonly<Record<string, unknown>>, fault?: string): void;
  stop(): Promise<void>;
}

interface BoardsLine {
  readonly event: 'boards';
  readonly boards: readonly BoardView[];
}

function isBoardsLine(value: unknown): value is BoardsLine {
  return typeof value === 'object' && value !== null && 'event' in value && value.event === 'boards';
}

interface BoardsToStart {
  readonly boards: number;
  readonly faulty?: number;
  /** Pause of boards that come by themselves. */
  readonly reconnectMs?: number;
}

/**
 * Every third is an ESP32, an AVR and a generic board; then come `faulty` ones. Resolves when all
 * listen.
 */
export async function startBoards({ boards, faulty = 0, reconnectMs }: BoardsToStart): Promise<SimulatedBoards> {
  const options = ['--devices', '0', '--direct', '--mcpu', String(boards), '--mcpu-faulty', String(faulty), '--json'];
  if (reconnectMs !== undefined) options.push('--reconnect-ms', String(reconnectMs));
  const child = spawn(process.execPath, [simulatorMain, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const waiting: ((boards: readonly BoardView[]) => void)[] = [];
  const next = () => new Promise<readonly BoardView[]>((resolve) => waiting.push(resolve));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const parsed: unknown = JSON.parse(line);
    if (isBoardsLine(parsed)) waiting.shift()?.(parsed.boards);
  });
  const say = (command: Readonly<Record<string, unknown>>) => void child.stdin.write(`${JSON.stringify(command)}\n`);
  await Promise.race([
    next(),
    exited.then(() => Promise.reject(new Error('The simulator ended before its boards listened.'))),
  ]);
  return {
    views: () => {
      const answer = next();
      say({ cmd: 'boards' });
      return answer;
    },
    dialIn: (settings, fault) => say({ cmd: 'dialIn', settings, fault }),
    reset: (address) => say({ cmd: 'resetBoard', board: address }),
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

/** Registers microcontrollers by what they are called and where they wait. */
export async function registerBoards(
  hub: Pick<HubProcess, 'httpUrl' | 'adminKey'>,
  boards: readonly { readonly deviceId: string; readonly address: string; readonly tags?: readonly string[] }[],
): Promise<void> {
  const query =
    'mutation ($input: [RegisterDeviceInput!]!) { registerDevices(input: $input) { userErrors { code message } } }';
  const input = boards.map(({ deviceId, address, tags = [] }) => ({ deviceId, address, tags, dialect: 'MCPU' }));
  const { registerDevices } = await ask<{ registerDevices: { userErrors: readonly unknown[] } }>(hub, query, { input });
  if (registerDevices.userErrors.length > 0)
    throw new Error(`registerDevices refused: ${JSON.stringify(registerDevices.userErrors)}`);
}
