/**
 * Counter mode (CTR) with one key; the header of each packet is its counter block. Node's ciphers
 * take one counter block for life, and a new cipher per packet costs more than the packet:
 * thousands of native objects a second for garbage collection. So one ECB cipher encrypts counter
 * blocks. [xiaozhi §2.5, NIST SP 800-38A §6.5]
 */
import { UDP_DATAGRAM_BYTES_MAX } from './udp-packet.js';

/**
 * Encrypts blocks of 16 bytes with the key, each separately (ECB without padding). The result is
 * valid during the call only.
 */
type EncipherBlocks = (blocks: Uint8Array) => Uint8Array;

const BLOCK_BYTES = 16;

export class CounterMode {
  /** Counter blocks of the longest packet. */
  readonly #counters = new Uint8Array(Math.ceil(UDP_DATAGRAM_BYTES_MAX / BLOCK_BYTES) * BLOCK_BYTES);
  /** Those of the last packet, because most packets have equal lengths. */
  #used = this.#counters;

  constructor(private readonly encipher: EncipherBlocks) {}

  /**
   * Encrypts or decrypts (the same operation) `audio` into `target` from `at`, possibly in place.
   * The first 16 bytes of `datagram` are the counter block. Throws RangeError if too long.
   */
  apply(datagram: Uint8Array, audio: Uint8Array, target: Uint8Array, at = 0): void {
    const { length } = audio;
    if (length > this.#counters.length) throw new RangeError(`a datagram cannot carry ${length} bytes of audio`);
    const keystream = this.encipher(this.#countersFrom(datagram, Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES));
    for (let index = 0; index < length; index += 1) target[at + index] = (audio[index] ?? 0) ^ (keystream[index] ?? 0);
  }

  /** The first block and those after it, up to this number of bytes. */
  #countersFrom(datagram: Uint8Array, bytes: number): Uint8Array {
    const counters = this.#counters;
    for (let index = 0; index < BLOCK_BYTES; index += 1) counters[index] = datagram[index] ?? 0;
    for (let at = BLOCK_BYTES; at < bytes; at += BLOCK_BYTES) {
      counters.copyWithin(at, at - BLOCK_BYTES, at);
      increment(counters, at);
    }
    if (this.#used.length !== bytes) this.#used = counters.subarray(0, bytes);
    return this.#used;
  }
}

/** The 16 bytes are one big-endian number: the carry continues from sequence into time. */
function increment(counters: Uint8Array, blockAt: number): void {
  for (let index = blockAt + BLOCK_BYTES - 1; index >= blockAt; index -= 1) {
    const next = ((counters[index] ?? 0) + 1) & 0xff;
    counters[index] = next;
    if (next !== 0) return;
  }
}
