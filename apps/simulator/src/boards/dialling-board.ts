/**
 * One simulated microcontroller that dials the hub over WebSocket or MQTT with its registered
 * credentials, and reconnects after a loss. [mcpu §6]
 */
import type { BoardEffect, SimulatedBoard } from '@flotilla/simulated-device';
import type { BoardFault } from './board-faults.js';
import type { DeviceSocket, Loss } from '../sockets/device-socket.js';
import { floodLine, garbage } from './board-faults.js';
import { openBoardSocket } from './board-settings.js';
import type { BoardSettings } from './board-settings.js';

interface DiallingBoardOptions {
  readonly settings: BoardSettings;
  readonly fault: BoardFault | undefined;
  /** Pause after a loss or a refusal. */
  readonly reconnectMs: number;
}

/** A flood comes as fast as a small board can write. */
const FLOOD_EVERY_MS = 5;

export class DiallingBoard {
  refusals = 0;
  #socket: DeviceSocket | undefined;
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(
    readonly board: SimulatedBoard,
    readonly options: DiallingBoardOptions,
  ) {}

  get address(): string {
    return this.options.settings.deviceId;
  }

  open(): void {
    if (this.#isClosed) return;
    this.#socket = openBoardSocket(this.options.settings, {
      onopen: () => this.#opened(),
      onmessage: (text) => this.#heard(text),
      onloss: (loss) => this.#lost(loss),
    });
  }

  /** Cuts the connection as a reset of the board does. */
  cut(): void {
    this.#socket?.close('abrupt');
    this.#lost({ kind: 'lost', detail: 'reset' });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.close('abrupt');
    this.#forget();
  }

  #opened(): void {
    this.#carryOut(this.board.connected(Date.now()));
    const { fault } = this.options;
    if (fault === 'closing') this.cut();
    else if (fault === 'flooding') this.#flood();
  }

  #heard(text: string): void {
    const { fault } = this.options;
    if (fault === undefined) this.#carryOut(this.board.receive(text, Date.now()));
    else if (fault === 'garbage') this.#socket?.send(garbage);
  }

  #flood(): void {
    this.#later(FLOOD_EVERY_MS, () => {
      this.#socket?.send(floodLine);
      this.#flood();
    });
  }

  #lost({ kind }: Loss): void {
    if (kind === 'refused') this.refusals += 1;
    this.#socket = undefined;
    this.#forget();
    if (!this.#isClosed) this.#later(this.options.reconnectMs, () => this.open());
  }

  #forget(): void {
    this.board.disconnected();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #carryOut(effects: readonly BoardEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.#socket?.send(effect.text);
      else this.#later(effect.at - Date.now(), () => this.#carryOut(this.board.tick(Math.max(effect.at, Date.now()))));
    }
  }

  #later(delayMs: number, act: () => void): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        act();
      },
      Math.max(0, delayMs),
    );
    this.#timers.add(timer);
  }
}
