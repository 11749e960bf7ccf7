/**
 * Datagrams on their way from one thread to another, in memory that both have: one writes, one reads, and neither waits for the other. A reader that has
 * nothing to do says so, and is to be woken then; one that is awake costs the writer nothing. What does not fit is not taken.
 */
import type { Endpoint, HearDatagram } from './datagram-port.js';

/** Numbers that both threads see; the positions are counts of bytes, modulo 2^32. */
const WRITTEN = 0;
const READ = 1;
const IS_ASLEEP = 2;
const CONTROL_BYTES = 16;

/** A record: its size (0: go on at the beginning), the lengths of datagram and address, the port; then the two. */
const SIZE_AT = 0;
const LENGTH_AT = 4;
const PORT_AT = 6;
const ADDRESS_LENGTH_AT = 8;
const ADDRESS_AT = 10;
const ALIGNMENT = 4;

export class DatagramRing {
  readonly #control: Int32Array;
  readonly #bytes: Buffer;
  readonly #capacity: number;

  /** The ring in memory of `DatagramRing.allocate`, one object of it in each thread. */
  constructor(memory: SharedArrayBuffer) {
    this.#control = new Int32Array(memory, 0, CONTROL_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#bytes = Buffer.from(memory, CONTROL_BYTES);
    this.#capacity = this.#bytes.length;
  }

  /** Memory for so many bytes, a power of two. The reader of a new ring is asleep. */
  static allocate(capacity: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(CONTROL_BYTES + capacity);
    new Int32Array(memory)[IS_ASLEEP] = 1;
    return memory;
  }

  /** False where it does not fit. */
  write(datagram: Uint8Array, { address, port }: Endpoint): boolean {
    const size = Math.ceil((ADDRESS_AT + address.length + datagram.length) / ALIGNMENT) * ALIGNMENT;
    const written = Atomics.load(this.#control, WRITTEN);
    const used = (written - Atomics.load(this.#control, READ)) >>> 0;
    const at = written & (this.#capacity - 1);
    const left = this.#capacity - at;
    const passed = left < size ? left : 0;
    if (used + passed + size > this.#capacity) return false;
    if (passed > 0) this.#bytes.writeUInt32LE(0, at + SIZE_AT);
    this.#put(passed > 0 ? 0 : at, size, { datagram, address, port });
    Atomics.store(this.#control, WRITTEN, (written + passed + size) | 0);
    return true;
  }

  /** Hands over at most `most` datagrams of those that are there. False where more are. */
  read(most: number, hear: HearDatagram): boolean {
    let at = Atomics.load(this.#control, READ);
    for (let heard = 0; heard < most;) {
      if (at === Atomics.load(this.#control, WRITTEN)) return true;
      const place = at & (this.#capacity - 1);
      const size = this.#bytes.readUInt32LE(place + SIZE_AT);
      if (size === 0) {
        at = (at + this.#capacity - place) | 0;
        continue;
      }
      const { datagram, from } = this.#take(place);
      at = (at + size) | 0;
      // Before the hearer, which may throw.
      Atomics.store(this.#control, READ, at);
      hear(datagram, from);
      heard += 1;
    }
    return at === Atomics.load(this.#control, WRITTEN);
  }

  /** The reader has read all and is to be woken for more; false where more has come meanwhile. */
  sleep(): boolean {
    Atomics.store(this.#control, IS_ASLEEP, 1);
    if (Atomics.load(this.#control, WRITTEN) === Atomics.load(this.#control, READ)) return true;
    // Whoever was to wake it needs not.
    Atomics.store(this.#control, IS_ASLEEP, 0);
    return false;
  }

  /** Whether the writer has to wake the reader: once for each sleep. */
  rouse(): boolean {
    return Atomics.exchange(this.#control, IS_ASLEEP, 0) === 1;
  }

  #put(place: number, size: number, { address, datagram, port }: Endpoint & { readonly datagram: Uint8Array }): void {
    const bytes = this.#bytes;
    bytes.writeUInt32LE(size, place + SIZE_AT);
    bytes.writeUInt16LE(datagram.length, place + LENGTH_AT);
    bytes.writeUInt16LE(port, place + PORT_AT);
    bytes.writeUInt16LE(address.length, place + ADDRESS_LENGTH_AT);
    bytes.write(address, place + ADDRESS_AT, 'latin1');
    bytes.set(datagram, place + ADDRESS_AT + address.length);
  }

  #take(place: number): { readonly datagram: Buffer; readonly from: Endpoint } {
    const bytes = this.#bytes;
    const length = bytes.readUInt16LE(place + LENGTH_AT);
    const datagramAt = place + ADDRESS_AT + bytes.readUInt16LE(place + ADDRESS_LENGTH_AT);
    const datagram = Buffer.allocUnsafe(length);
    bytes.copy(datagram, 0, datagramAt, datagramAt + length);
    return {
      datagram,
      from: { address: bytes.toString('latin1', place + ADDRESS_AT, datagramAt), port: bytes.readUInt16LE(place + PORT_AT) },
    };
  }
}
