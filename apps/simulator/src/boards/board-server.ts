/**
 * One simulated microcontroller on its own TCP port. It serves one client; others are accepted and
 * stay silent. [mcpu §0]
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { BoardEffect, SimulatedBoard } from '@flotilla/simulated-device';
import type { BoardFault } from './board-faults.js';
import { misbehave } from './board-faults.js';

/** Clients that the network stack holds while it serves one; more are rejected. */
const WAITING_MAX = 4;

interface BoardServerOptions {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** What it does instead of serving. */
  readonly fault: BoardFault | undefined;
}

export class BoardServer {
  readonly #server: Server;
  #served: Socket | undefined;
  readonly #waiting: Socket[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(
    readonly board: SimulatedBoard,
    readonly options: BoardServerOptions,
  ) {
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  /** Rejects where the port is taken. */
  async open(): Promise<void> {
    this.#server.listen(this.options.port, this.options.host);
    await once(this.#server, 'listening');
  }

  /** Once it is open. */
  get address(): string {
    return `${this.options.host}:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** Cuts the connection as a reset of the board does. */
  cut(): void {
    this.#served?.resetAndDestroy();
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
    this.#served?.destroy();
  }

  #accept(socket: Socket): void {
    // Every failure of the connection also closes it, so closing is handled alone.
    socket.on('error', () => undefined);
    if (this.#served === undefined) this.#serve(socket);
    else if (this.#waiting.length < WAITING_MAX) this.#wait(socket);
    else socket.destroy();
  }

  #wait(socket: Socket): void {
    this.#waiting.push(socket.pause());
    socket.once('close', () => {
      const at = this.#waiting.indexOf(socket);
      if (at !== -1) this.#waiting.splice(at, 1);
    });
  }

  #serve(socket: Socket): void {
    this.#served = socket;
    socket.once('close', () => this.#ended());
    this.#carryOut(this.board.connected(Date.now()));
    if (this.options.fault !== undefined) misbehave(socket, this.options.fault);
    else socket.on('data', (chunk: Buffer) => this.#carryOut(this.board.receive(chunk.toString(), Date.now())));
    socket.resume();
  }

  #ended(): void {
    this.#served = undefined;
    this.board.disconnected();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    const next = this.#waiting.shift();
    if (next !== undefined && this.#server.listening) this.#serve(next);
  }

  #carryOut(effects: readonly BoardEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.#served?.write(effect.text);
      else this.#wake(effect.at);
    }
  }

  #wake(at: number): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#carryOut(this.board.tick(Math.max(at, Date.now())));
      },
      Math.max(0, at - Date.now()),
    );
    this.#timers.add(timer);
  }
}
