/**
 * All simulated microcontrollers of this process: those that listen on their own port, and those
 * that dial the hub.
 */
import { boardProfileNames, boardProfiles, seededRandom, SimulatedBoard } from '@flotilla/simulated-device';
import type { BoardProfileName } from '@flotilla/simulated-device';
import { boardFaults } from './board-faults.js';
import type { BoardFault } from './board-faults.js';
import { BoardServer } from './board-server.js';
import type { BoardSettings } from './board-settings.js';
import { DiallingBoard } from './dialling-board.js';
import type { SimulatorOptions } from '../command/options.js';

/** Pause of a board that lost the hub. */
const RECONNECT_MS = 5_000;

/** The reported state of a board. */
interface BoardView {
  /** `host:port` at which it is dialled; of one that comes by itself its id. */
  readonly address: string;
  readonly profile: BoardProfileName;
  readonly fault: BoardFault | 'none';
  readonly connections: number;
  /** How often the hub rejected it; only for boards that dial the hub. */
  readonly refusals: number;
  readonly outputs: Readonly<Record<string, boolean | number>>;
  readonly tools: Readonly<Record<string, number>>;
}

export class Boards {
  readonly #servers: readonly BoardServer[];
  readonly #diallers: DiallingBoard[] = [];
  readonly #seed: number;
  readonly #reconnectMs: number;

  constructor({
    mcpu,
    mcpuFaulty,
    mcpuHost: host,
    mcpuPort,
    seed,
    reconnectMs,
  }: Pick<SimulatorOptions, 'mcpu' | 'mcpuFaulty' | 'mcpuHost' | 'mcpuPort' | 'reconnectMs' | 'seed'>) {
    this.#seed = seed;
    this.#reconnectMs = reconnectMs ?? RECONNECT_MS;
    this.#servers = Array.from({ length: mcpu + mcpuFaulty }, (_, index) => {
      const board = makeBoard(seed, index);
      const fault = index < mcpu ? undefined : boardFaults[(index - mcpu) % boardFaults.length];
      return new BoardServer(board, { host, port: mcpuPort === 0 ? 0 : mcpuPort + index, fault });
    });
  }

  get size(): number {
    return this.#servers.length + this.#diallers.length;
  }

  /** Rejects where a port is taken; then nothing listens. */
  async open(): Promise<void> {
    try {
      for (const server of this.#servers) await server.open();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Once they are open. */
  list(): readonly BoardView[] {
    return [...this.#servers, ...this.#diallers].map((home) => ({
      address: home.address,
      profile: home.board.profile.name,
      fault: home.options.fault ?? 'none',
      connections: home.board.connections,
      refusals: 'refusals' in home ? home.refusals : 0,
      outputs: home.board.outputs,
      tools: Object.fromEntries(home.board.toolCounts),
    }));
  }

  /** A further board, which comes to the hub by itself. */
  dialIn(settings: BoardSettings, fault: BoardFault | undefined): void {
    const board = makeBoard(this.#seed, this.size);
    const dialling = new DiallingBoard(board, { settings, fault, reconnectMs: this.#reconnectMs });
    this.#diallers.push(dialling);
    dialling.open();
  }

  /** Resets the board with this address, or all with `*`; how many there were. */
  reset(address: string): number {
    const meant = [...this.#servers, ...this.#diallers].filter(
      (server) => address === '*' || server.address === address,
    );
    for (const server of meant) server.cut();
    return meant.length;
  }

  close(): void {
    for (const home of [...this.#servers, ...this.#diallers]) home.close();
  }
}

/** In turn an ESP32, an AVR and a generic one. */
function makeBoard(seed: number, index: number): SimulatedBoard {
  const profile = boardProfiles[boardProfileNames[index % boardProfileNames.length] ?? 'generic'];
  return new SimulatedBoard({ profile, random: seededRandom(seed * 0x10000 + index) });
}
