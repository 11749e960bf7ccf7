/**
 * Checks an assets image while it arrives, as the firmware checks the written image. [xiaozhi §6.4]
 */

/** `reason` says what is wrong with the image. */
export type AssetsVerdict =
  { readonly ok: true; readonly bytes: number } | { readonly ok: false; readonly reason: string };

/** Little endian: number of files, checksum, and length of what follows; 4 bytes each. */
const HEADER_BYTES = 12;
const CHECKSUM_AT = 4;
const LENGTH_AT = 8;
/** The checksum is the sum of all bytes that follow, so many bits of it. */
const CHECKSUM_MASK = 0xffff;

export class AssetsReader {
  readonly #header = new Uint8Array(HEADER_BYTES);
  #bytes = 0;
  #sum = 0;

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#bytes < HEADER_BYTES) this.#header[this.#bytes] = byte;
      else if (this.#bytes < HEADER_BYTES + this.#length) this.#sum = (this.#sum + byte) & CHECKSUM_MASK;
      this.#bytes += 1;
    }
  }

  end(): AssetsVerdict {
    if (this.#bytes < HEADER_BYTES) return { ok: false, reason: `${this.#bytes} bytes are no assets` };
    if (this.#bytes < HEADER_BYTES + this.#length)
      return { ok: false, reason: `${this.#bytes} bytes are less than the ${this.#length} that the header says` };
    const stated = this.#number(CHECKSUM_AT);
    if (stated !== this.#sum)
      return { ok: false, reason: `the checksum is ${this.#sum}, and the header says ${stated}` };
    return { ok: true, bytes: this.#bytes };
  }

  get #length(): number {
    return this.#number(LENGTH_AT);
  }

  #number(at: number): number {
    return new DataView(this.#header.buffer).getUint32(at, true);
  }
}
