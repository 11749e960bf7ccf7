/**
 * Queues messages of a voice server for the device, in order: texts leave when all earlier items
 * have left, audio when it is due. A slow device makes the server wait.
 */
import type { JsonObject } from '@flotilla/mcp';
import type { Clock } from '@flotilla/session';

/** `bytes`: the size of the voice server's message. */
type AnswerItem = { readonly bytes: number } & (
  { readonly kind: 'text'; readonly message: JsonObject } | { readonly kind: 'audio'; readonly frame: Uint8Array }
);

/** Sends items to the device. */
interface ReplyChannel {
  /** When the item may leave, ms since the Unix epoch: `now` or later. */
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
      readonly channel: ReplyChannel;
      readonly itemsMax: number;
      readonly bytesMax: number;
      /** Pauses or resumes the voice server. */
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

  /**
   * Handles an interruption by the user: drops queued audio, keeps texts. Returns the number of
   * dropped frames.
   */
  interrupt(): number {
    const texts = this.#items.filter((item) => item.kind === 'text');
    const dropped = this.#items.length - texts.length;
    this.#items = texts;
    this.#bytes = texts.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#wake();
    return dropped;
  }

  /** Returns the number of frames that were not sent. */
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
    const { bytesMax, clock, hold, itemsMax, channel } = this.options;
    const now = clock.now();
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      const dueAt = channel.dueAt(item, now);
      if (dueAt > now) {
        this.#cancelWait = clock.setTimer(dueAt - now, () => this.#wake());
        break;
      }
      this.#items.shift();
      this.#bytes -= item.bytes;
      channel.send(item, now);
    }
    if (this.#items.length <= itemsMax / 2 && this.#bytes <= bytesMax / 2) hold(false);
  }
}
