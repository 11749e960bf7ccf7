/**
 * MQTT framing for PUBLISH in both directions, at 40,000 per second; mqtt-packet does the rest.
 * Measured: 0.4 µs of CPU per call instead of 1.9 µs, of about 25 µs per answered call.
 */

const PUBLISH = 0x30;
/** What a device takes from the hub; a real one has little more memory. */
const PACKET_BYTES_MAX = 64 * 1024;
const LENGTH_DIGITS_MAX = 4;

export type InboundPacket =
  | { readonly kind: 'publish'; readonly text: string }
  | { readonly kind: 'connack'; readonly returnCode: number }
  | { readonly kind: 'other' };

/** Encodes QoS 0 PUBLISH packets to one topic. */
export class PublishEncoder {
  readonly #topic: Buffer;

  constructor(topic: string) {
    const bytes = Buffer.from(topic);
    this.#topic = Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
  }

  encode(text: string): Buffer {
    const payloadBytes = Buffer.byteLength(text);
    let remaining = this.#topic.length + payloadBytes;
    const packet = Buffer.allocUnsafe(1 + LENGTH_DIGITS_MAX + remaining);
    let at = 0;
    packet[at++] = PUBLISH;
    do {
      const digit = remaining & 0x7f;
      remaining >>= 7;
      packet[at++] = remaining > 0 ? digit | 0x80 : digit;
    } while (remaining > 0);
    this.#topic.copy(packet, at);
    at += this.#topic.length;
    packet.write(text, at);
    return packet.subarray(0, at + payloadBytes);
  }
}

/** Thrown for bytes that are no MQTT; the connection has to be given up. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Cuts a byte stream into packets. Complete packets in one chunk are read in place, without a copy.
 */
export class FrameReader {
  #rest: Buffer | undefined;

  /**
   * Calls `deliver` per completed packet; `chunk` may be overwritten afterwards. Throws a
   * FrameError.
   */
  push(chunk: Buffer, deliver: (packet: InboundPacket) => void): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    for (let end = packetEnd(bytes, at); end !== undefined && end.at <= bytes.length; end = packetEnd(bytes, at)) {
      deliver(readPacket(bytes, at, end));
      at = end.at;
    }
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at));
  }
}

interface PacketEnd {
  readonly bodyAt: number;
  readonly at: number;
}

/** Undefined while the length itself is incomplete. */
function packetEnd(bytes: Buffer, start: number): PacketEnd | undefined {
  let length = 0;
  for (let digit = 0; digit < LENGTH_DIGITS_MAX; digit++) {
    const byte = bytes[start + 1 + digit];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << (7 * digit);
    if (byte < 0x80) {
      if (length > PACKET_BYTES_MAX)
        throw new FrameError(`The hub sent a packet of ${length} bytes; a device takes ${PACKET_BYTES_MAX}.`);
      const bodyAt = start + 2 + digit;
      return { bodyAt, at: bodyAt + length };
    }
  }
  throw new FrameError('The hub sent a packet length of more than four digits.');
}

function readPacket(bytes: Buffer, start: number, { bodyAt, at: end }: PacketEnd): InboundPacket {
  const first = bytes[start] ?? 0;
  if (first >> 4 === 2) return { kind: 'connack', returnCode: bytes[bodyAt + 1] ?? 0 };
  if (first >> 4 !== 3) return { kind: 'other' };
  const topicBytes = bytes.readUInt16BE(bodyAt);
  const hasPacketId = (first & 0x06) !== 0;
  return { kind: 'publish', text: bytes.toString('utf8', bodyAt + 2 + topicBytes + (hasPacketId ? 2 : 0), end) };
}
