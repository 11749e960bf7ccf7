/**
 * The stream that Aedes reads instead of the socket. Packets that need no broker never enter it:
 * a call would cost 10 µs of CPU more if Aedes parsed and queued each message.
 */
import { Duplex } from 'node:stream';
import type { MqttPacket, PacketReader } from './packet-reader.js';

interface PacketStreamOptions {
  readonly reader: PacketReader;
  /** Receives what a chunk completed, before any of it is passed on. */
  readonly onChunk: (packets: readonly MqttPacket[], bytes: number) => void;
  /** Handles a packet. False leaves it to the broker. */
  readonly handle: (packet: MqttPacket) => boolean;
}

export class PacketStream extends Duplex {
  /** Packets that wait until the broker has answered CONNECT. */
  #waiting: MqttPacket[] = [];
  #isAwaitingAnswer = false;
  #isBrokerFull = false;
  #isHeld = false;

  constructor(
    readonly socket: Duplex,
    private readonly options: PacketStreamOptions,
  ) {
    super();
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** Passes nothing on until `answered`, so that no message overtakes CONNECT. */
  awaitAnswer(): void {
    this.#isAwaitingAnswer = true;
  }

  /** The broker has answered CONNECT. */
  answered(): void {
    this.#isAwaitingAnswer = false;
    this.#pass(this.#waiting.splice(0));
    this.#readOn();
  }

  /** Stops reading: the device sends too fast. */
  hold(): void {
    this.#isHeld = true;
    this.socket.pause();
  }

  /** Reads on after `hold`. */
  release(): void {
    this.#isHeld = false;
    this.#readOn();
  }

  override _read(): void {
    if (!this.#isBrokerFull) return;
    this.#isBrokerFull = false;
    this.#readOn();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.socket.write(chunk)) done();
    else this.socket.once('drain', done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#waiting = [];
    this.socket.destroy();
    done(error);
  }

  #receive(chunk: Buffer): void {
    const packets = this.options.reader.read(chunk);
    this.options.onChunk(packets, chunk.length);
    this.#pass(packets);
  }

  #pass(packets: readonly MqttPacket[]): void {
    for (const packet of packets) {
      if (this.destroyed) return;
      if (this.#isAwaitingAnswer) {
        this.#waiting.push(packet);
        this.socket.pause();
      } else if (!this.options.handle(packet) && !this.push(packet.chunk.subarray(packet.start, packet.end))) {
        this.#isBrokerFull = true;
        this.socket.pause();
      }
    }
  }

  #readOn(): void {
    if (!this.#isHeld && !this.#isBrokerFull && this.#waiting.length === 0) this.socket.resume();
  }
}
