/**
 * Messages that need no broker: PUBLISH with QoS 0 on one of the device's own topics, whole, with nothing else in the chunk. That is nearly all that devices say, and reading it here
 * spares a call the broker's stream, parser and queue of steps.
 */

/** PUBLISH, QoS 0, neither repeated nor retained. [MQTT 3.3.1] */
const PUBLISH_QOS_0 = 0x30;

/** Digits that a remaining length has at most. [MQTT 2.2.3] */
const LENGTH_DIGITS_MAX = 4;

export class PlainMessages {
  readonly #topics: readonly Buffer[];

  constructor(topics: readonly string[]) {
    this.#topics = topics.map((topic) => Buffer.from(topic));
  }

  /** The payload of each message in a chunk that begins with a packet, in their order. Undefined where there is anything else in it. */
  payloadsOf(chunk: Buffer): readonly Buffer[] | undefined {
    const payloads: Buffer[] = [];
    for (let at = 0; at < chunk.length;) {
      const bodyAt = bodyOf(chunk, at);
      const end = bodyAt + lengthOf(chunk, at + 1);
      if (chunk[at] !== PUBLISH_QOS_0 || end > chunk.length) return undefined;
      const payloadAt = this.#payloadAt(chunk, bodyAt, end);
      if (payloadAt === undefined) return undefined;
      payloads.push(chunk.subarray(payloadAt, end));
      at = end;
    }
    return payloads;
  }

  /** Where the payload begins; undefined where the topic is none of the device's. */
  #payloadAt(chunk: Buffer, bodyAt: number, end: number): number | undefined {
    const payloadAt = bodyAt + 2 + (((chunk[bodyAt] ?? 0) << 8) | (chunk[bodyAt + 1] ?? 0));
    const isOwn = payloadAt <= end && this.#topics.some((topic) => topic.compare(chunk, bodyAt + 2, payloadAt) === 0);
    return isOwn ? payloadAt : undefined;
  }
}

/** Where the body of the packet begins. */
function bodyOf(chunk: Buffer, at: number): number {
  let digits = 1;
  while (digits < LENGTH_DIGITS_MAX && (chunk[at + digits] ?? 0) >= 0x80) digits += 1;
  return at + 1 + digits;
}

/** The remaining length whose first digit is here; Infinity where it is incomplete or none. */
function lengthOf(chunk: Buffer, at: number): number {
  let length = 0;
  for (let digit = 0; digit < LENGTH_DIGITS_MAX; digit++) {
    const byte = chunk[at + digit];
    if (byte === undefined) return Infinity;
    length |= (byte & 0x7f) << (7 * digit);
    if (byte < 0x80) return length;
  }
  return Infinity;
}
