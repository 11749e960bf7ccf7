/**
 * Signs messages between the processes of one hub and verifies received ones: an HMAC over channel,
 * sender, sequence number and text. A client of Redis without the key can neither forge, move nor
 * replay a message.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { clockSkewMsMax } from '@flotilla/mcp';
import { LRUCache } from 'lru-cache';

/** Characters of base64url: 132 of the 256 bits. */
const MAC_LENGTH = 22;
/**
 * The maximum difference between a message's time and ours, ms: outages and differing clocks. The
 * calls inside have their own deadlines.
 */
const AGE_MAX_MS = clockSkewMsMax;
/** Sequence numbers per ms: the sender's clock, counted up for several messages in one ms. */
const PER_MS = 1_000;
const AHEAD_MAX = AGE_MAX_MS * PER_MS;
/** Remembered senders: more than the processes of a hub, with restarts, within AGE_MAX_MS. */
const SENDERS_MAX = 1_024;

export type SealProblem =
  /** Not in the format of a signed message. */
  | 'unsigned'
  /** Signed with another key, or changed on its way. */
  | 'wrong_key'
  /** Older than another received message of the same sender. */
  | 'replayed'
  /** Its time differs too much from ours. */
  | 'out_of_time';

type OpenedMessage = { readonly sender: string; readonly text: string } | { readonly problem: SealProblem };

const FORM = /^([\w-]{22})(\d{1,16})\.([\w-]{1,64})\./;

export class MessageSeal {
  readonly #key: KeyObject;
  readonly #ownMark: string;
  readonly #latest = new LRUCache<string, number>({ max: SENDERS_MAX });
  #sequence = 0;

  constructor(
    secret: string,
    /** The name of this process for the others. */
    readonly sender: string,
    private readonly now: () => number = Date.now,
  ) {
    this.#key = createSecretKey(secret, 'utf8');
    this.#ownMark = `.${sender}.`;
  }

  seal(channel: string, text: string): string {
    const clock = this.now() * PER_MS;
    // Goes on counting after a small step of the clock back. After a large one it begins again,
    // because no process would accept the former time.
    this.#sequence = this.#sequence > clock + AHEAD_MAX ? clock : Math.max(this.#sequence + 1, clock);
    const body = `${this.#sequence}.${this.sender}.${text}`;
    return this.macOf(channel, body) + body;
  }

  /** Does not verify the signature: a forged sender name only causes the message to be dropped. */
  isOwn(message: string): boolean {
    return message.startsWith(this.#ownMark, message.indexOf('.'));
  }

  /** Messages of one sender must be opened in the order in which they were sealed. */
  open(channel: string, message: string): OpenedMessage {
    const [head, mac = '', digits = '', sender = ''] = FORM.exec(message) ?? [];
    if (head === undefined) return { problem: 'unsigned' };
    const expected = this.macOf(channel, message.slice(MAC_LENGTH));
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return { problem: 'wrong_key' };
    const sequence = Number(digits);
    const clock = this.now() * PER_MS;
    if (Math.abs(clock - sequence) > AHEAD_MAX) return { problem: 'out_of_time' };
    const latest = this.#latest.get(sender) ?? 0;
    // A later one than the clock allows was received before the clock was set back.
    if (sequence <= latest && latest <= clock + AHEAD_MAX) return { problem: 'replayed' };
    this.#latest.set(sender, sequence);
    return { sender, text: message.slice(head.length) };
  }

  /** Also signs values that are stored in Redis. */
  macOf(place: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${place}\n${text}`).digest('base64url').slice(0, MAC_LENGTH);
  }
}
