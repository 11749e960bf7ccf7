/**
 * The transport of one MQTT device. It writes PUBLISH packets straight to the socket, because most
 * devices never subscribe, and receives the messages of its connection. [xiaozhi §2.2]
 */
import type { Duplex } from 'node:stream';
import type { CloseReason, Transport } from '@flotilla/mcp';
import { publishPacket } from './publish-packet.js';

interface MqttTransportOptions {
  /**
   * Topic of outgoing messages, by `topicField`. Devices ignore it; it helps people who read the
   * traffic.
   */
  readonly topic: Buffer;
  readonly unsentBytesMax: number;
  /** Ends the connection in the broker. Never throws. */
  readonly hangUp: () => void;
}

export class MqttTransport implements Transport {
  onmessage: ((text: string) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: ((reason: CloseReason) => void) | undefined;
  #isStarted = false;
  #isOpen = true;
  /** The stream keeps what is written until it is uncorked. */
  #isCorked = false;

  constructor(
    private readonly conn: Duplex,
    private readonly options: MqttTransportOptions,
  ) {}

  start(): void {
    this.#isStarted = true;
  }

  /** Writes the message; with `isMoreToCome` later in this turn, together with the next one. */
  send(text: string, isMoreToCome = false): boolean {
    const { conn } = this;
    if (!this.#isOpen || conn.destroyed || conn.writableLength > this.options.unsentBytesMax) return false;
    if (isMoreToCome) this.#cork();
    conn.write(publishPacket(this.options.topic, text));
    if (!isMoreToCome && this.#isCorked) this.#uncork();
    return true;
  }

  close(reason: CloseReason): void {
    if (!this.#isOpen) return;
    this.#end(reason);
    this.options.hangUp();
  }

  /** Takes a message of the device. */
  receive(text: string): void {
    if (this.#isStarted && this.#isOpen) this.onmessage?.(text);
  }

  /** Reports an error of the connection, which then ends. */
  fail(error: Error): void {
    if (this.#isOpen) this.onerror?.(error);
  }

  /** The connection is gone. */
  ended(reason: CloseReason): void {
    if (this.#isOpen) this.#end(reason);
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.conn.cork();
    process.nextTick(() => this.#uncork());
  }

  #uncork(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.conn.uncork();
  }

  #end(reason: CloseReason): void {
    this.#isOpen = false;
    process.nextTick(() => this.onclose?.(reason));
  }
}
