/** All simulated microcontrollers of this process: made from the seed, each listening on a port, found by address. */
import { boardProfileNames, boardProfiles, seededRandom, SimulatedBoard } from '@flotilla/simulated-device';
import type { BoardProfileName } from '@flotilla/simulated-device';
import { boardFaults } from './board-faults.js';
import type { BoardFault } from './board-faults.js';
import { BoardServer } from './board-server.js';
import type { SimulatorOptions } from './options.js';

/** What is told of a board. */
export interface BoardView {
  /** `host:port` at which it is dialled. */
  readonly address: string;
  readonly profile: BoardProfileName;
  readonly fault: BoardFault | 'none';
  readonly connections: number;
  readonly outputs: Readonly<Record<string, boolean | number>>;
  readonly tools: Readonly<Record<string, number>>;
}

export class Boards {
  readonly #servers: readonly BoardServer[];

  constructor({
    mcpu,
    mcpuFaulty,
    mcpuHost: host,
    mcpuPort,
    seed,
  }: Pick<SimulatorOptions, 'mcpu' | 'mcpuFaulty' | 'mcpuHost' | 'mcpuPort' | 'seed'>) {
    this.#servers = Array.from({ length: mcpu + mcpuFaulty }, (_, index) => {
      const profile = boardProfiles[boardProfileNames[index % boardProfileNames.length] ?? 'generic'];
      const board = new SimulatedBoard({ profile, random: seededRandom(seed * 0x10000 + index) });
      const fault = index < mcpu ? undefined : boardFaults[(index - mcpu) % boardFaults.length];
      return new BoardServer(board, { host, port: mcpuPort === 0 ? 0 : mcpuPort + index, fault });
    });
  }

  get size(): number {
    return this.#servers.length;
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
    return this.#servers.map(({ address, board, options }) => ({
      ...{ address, profile: board.profile.name, fault: options.fault ?? 'none', connections: board.connections },
      ...{ outputs: board.outputs, tools: Object.fromEntries(board.toolCounts) },
    }));
  }

  /** Resets the board with this address, or all with `*`; how many there were. */
  reset(address: string): number {
    const meant = this.#servers.filter((server) => address === '*' || server.address === address);
    for (const server of meant) server.cut();
    return meant.length;
  }

  close(): void {
    for (const server of this.#servers) server.close();
  }
}
