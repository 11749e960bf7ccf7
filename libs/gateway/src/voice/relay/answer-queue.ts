/**
 * What a voice server says, on its way to the device, in the order in which it was said: texts go when it is their turn, audio when it is due. A device that
 * takes less than the server gives makes the server wait.
 */
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

/** `bytes`: what it had when the voice server sent it. */
export type AnswerItem = { readonly bytes: number } & (
  { readonly kind: 'text'; readonly message: JsonObject } | { readonly kind: 'audio'; readonly frame: Uint8Array }
);

/** How items leave. */
export interface AnswerWay {
  /** When the item may go, ms since the Unix epoch: `now`, or later. */
  dueAt(item: AnswerItem, now: number): number;
  send(item: AnswerItem, now: number): void;
}

export class AnswerQueue {
  #items: AnswerItem[] = [];
  #bytes = 0;
  #cancelWait: (() => void) | undefined;

  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly way: AnswerWay;
      readonly itemsMax: number;
      readonly bytesMax: number;
      /** The server is to wait, or to go on. */
      readonly hold: (isHeld: boolean) => void;
    },
  ) {}

  get size(): number {
    return this.#items.length;
  }

  push(item: AnswerItem): void {
    this.#items.push(item);
    this.#bytes += item.bytes;
    if (this.#cancelWait === undefined) this.#drain();
    const { bytesMax, hold, itemsMax } = this.options;
    if (this.#items.length >= itemsMax || this.#bytes >= bytesMax) hold(true);
  }

  /** The user interrupted: audio that waits is dropped, texts go. Returns how many frames were dropped. */
  interrupt(): number {
    const texts = this.#items.filter((item) => item.kind === 'text');
    const dropped = this.#items.length - texts.length;
    this.#items = texts;
    this.#bytes = texts.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#wake();
    return dropped;
  }

  /** Returns how many frames were not sent any more. */
  stop(): number {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#bytes = 0;
    return this.#items.splice(0).filter((item) => item.kind === 'audio').length;
  }

  #wake(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#drain();
  }

  #drain(): void {
    const { bytesMax, clock, hold, itemsMax, way } = this.options;
    const now = clock.now();
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      const dueAt = way.dueAt(item, now);
      if (dueAt > now) {
        this.#cancelWait = clock.setTimer(dueAt - now, () => this.#wake());
        break;
      }
      this.#items.shift();
      this.#bytes -= item.bytes;
      way.send(item, now);
    }
    if (this.#items.length <= itemsMax / 2 && this.#bytes <= bytesMax / 2) hold(false);
  }
}
