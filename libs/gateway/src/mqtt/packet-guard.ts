/**
 * Reads nothing of an MQTT stream but the fixed headers, and says when to cut it: the broker behind it buffers whatever length a header claims.
 * It neither keeps bytes nor judges contents.
 */

export type GuardCut =
  /** The header claims more than a packet may have. */
  | 'packet_too_large'
  /** The remaining length does not end within four bytes. [MQTT 2.2.3] */
  | 'malformed_length'
  /** The first packet is not CONNECT. [MQTT-3.1.0-1] */
  | 'connect_expected'
  /** CONNECT came again. [MQTT-3.1.0-2] */
  | 'second_connect';

/** Bounds of a whole packet in bytes, header included. */
export interface PacketBounds {
  readonly unprovenPacketBytesMax: number;
  readonly messageBytesMax: number;
}

const CONNECT = 1;
const DISCONNECT = 14;

export class PacketGuard {
  #bytesMax: number;
  #cut: GuardCut | undefined;
  #sawConnect = false;
  #sawDisconnect = false;
  /** Bytes of the current packet that are still to come; 0 between packets. */
  #bodyLeft = 0;
  /** Bytes of the current fixed header read so far. */
  #headerBytes = 0;
  #lengthSoFar = 0;
  #packets = 0;

  constructor(private readonly bounds: PacketBounds) {
    this.#bytesMax = bounds.unprovenPacketBytesMax;
  }

  /** The device proved who it is: from the next header on the larger bound holds. */
  accept(): void {
    this.#bytesMax = this.bounds.messageBytesMax;
  }

  /** Whether the device announced its end. */
  get sawDisconnect(): boolean {
    return this.#sawDisconnect;
  }

  /** Packets whose header has arrived so far. */
  get packets(): number {
    return this.#packets;
  }

  /** Whether the next byte begins a packet. */
  get isBetweenPackets(): boolean {
    return this.#bodyLeft === 0 && this.#headerBytes === 0;
  }

  /** Why the stream was cut, if it was. */
  get cut(): GuardCut | undefined {
    return this.#cut;
  }

  /** Takes the next bytes in the order of the stream. Once it says cut, it stays so. */
  inspect(chunk: Uint8Array): GuardCut | undefined {
    let at = 0;
    while (at < chunk.length && this.#cut === undefined) {
      if (this.#bodyLeft > 0) {
        const skipped = Math.min(this.#bodyLeft, chunk.length - at);
        this.#bodyLeft -= skipped;
        at += skipped;
      } else {
        this.#readHeaderByte(chunk[at] ?? 0);
        at += 1;
      }
    }
    return this.#cut;
  }

  #readHeaderByte(byte: number): void {
    if (this.#headerBytes === 0) this.#readType(byte);
    else this.#readLength(byte);
  }

  #readType(byte: number): void {
    const type = byte >> 4;
    // With flags, which CONNECT has none of, it is no CONNECT either: TLS begins with 0x16. [MQTT-2.2.2-2]
    if (!this.#sawConnect && byte !== CONNECT << 4) this.#cut = 'connect_expected';
    else if (this.#sawConnect && type === CONNECT) this.#cut = 'second_connect';
    this.#sawConnect = true;
    if (type === DISCONNECT) this.#sawDisconnect = true;
    this.#headerBytes = 1;
    this.#lengthSoFar = 0;
  }

  #readLength(byte: number): void {
    this.#lengthSoFar += (byte & 0x7f) * 128 ** (this.#headerBytes - 1);
    this.#headerBytes += 1;
    const isLast = byte < 0x80;
    // A claim only grows with further bytes, so it is judged before it is complete.
    if (this.#headerBytes + this.#lengthSoFar > this.#bytesMax) this.#cut = 'packet_too_large';
    else if (!isLast && this.#headerBytes === 5) this.#cut = 'malformed_length';
    else if (isLast) {
      this.#bodyLeft = this.#lengthSoFar;
      this.#packets += 1;
      this.#headerBytes = 0;
    }
  }
}
