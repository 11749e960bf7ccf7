/**
 * The counter mode of a block cipher with one key, and a counter block for each packet, which is the packet's header. Ciphers of platforms take one counter
 * block for their whole life, and one of them for each packet costs more than the packet itself: thousands of native objects a second, which every
 * collection of garbage has to visit. So the keystream comes from one cipher that enciphers counter blocks, which is how the mode is defined.
 * [xiaozhi §2.5, NIST SP 800-38A §6.5]
 */
import { UDP_DATAGRAM_BYTES_MAX } from './udp-packet.js';

/** Enciphers whole blocks of 16 bytes with the key, each for itself (ECB without padding). The blocks are valid during the call only. */
export type EncipherBlocks = (blocks: Uint8Array) => Uint8Array;

const BLOCK_BYTES = 16;

export class CounterMode {
  /** Counter blocks of the longest packet. */
  readonly #counters = new Uint8Array(Math.ceil(UDP_DATAGRAM_BYTES_MAX / BLOCK_BYTES) * BLOCK_BYTES);
  /** Those of the last packet: most are as long as the one before. */
  #used = this.#counters;

  constructor(private readonly encipher: EncipherBlocks) {}

  /**
   * Enciphers `audio`, or deciphers it, which is the same, into `target` from `at` on; that may be its own place. The counter block of its beginning is the
   * first 16 bytes of `datagram`. Throws RangeError for audio that no datagram carries.
   */
  apply(datagram: Uint8Array, audio: Uint8Array, target: Uint8Array, at = 0): void {
    const { length } = audio;
    if (length > this.#counters.length) throw new RangeError(`no datagram carries ${length} bytes of audio`);
    const keystream = this.encipher(this.#countersFrom(datagram, Math.ceil(length / BLOCK_BYTES) * BLOCK_BYTES));
    for (let index = 0; index < length; index += 1) target[at + index] = (audio[index] ?? 0) ^ (keystream[index] ?? 0);
  }

  /** The first block and those after it, so many bytes. */
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

/** All 16 bytes are one number, big-endian: behind the highest sequence the carry goes on into the time. */
function increment(counters: Uint8Array, blockAt: number): void {
  for (let index = blockAt + BLOCK_BYTES - 1; index >= blockAt; index -= 1) {
    const next = ((counters[index] ?? 0) + 1) & 0xff;
    counters[index] = next;
    if (next !== 0) return;
  }
}
