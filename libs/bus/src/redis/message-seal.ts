/**
 * Signs what processes of one hub send each other over Redis, and checks what arrives: an HMAC over channel, sender, sequence number and text.
 * A stranger with access to Redis can neither make a message nor move one to another channel, nor send one again.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** Characters of base64url: 132 of the 256 bits. */
const MAC_LENGTH = 22;
/** How far a message's time may be from ours, ms: outages of a connection, and clocks that differ. The calls inside have deadlines of their own. */
const AGE_MAX_MS = 60_000;
/** Sequence numbers per ms: a sender's number is its clock, counted up where it sends more than one message in a ms. */
const PER_MS = 1_000;
/** Senders that are remembered before those that were silent for longer than AGE_MAX_MS are forgotten. */
const SENDERS_MAX = 256;

export type SealProblem =
  /** Not in the form of a message of ours. */
  | 'unsigned'
  /** Signed with another key, or changed on its way. */
  | 'wrong_key'
  /** Older than a message of the same sender that has arrived. */
  | 'replayed'
  /** Its time is too far from ours. */
  | 'out_of_time';

export type OpenedMessage = { readonly sender: string; readonly text: string } | { readonly problem: SealProblem };

const FORM = /^([\w-]{22})(\d{1,16})\.([\w-]{1,64})\./;

export class MessageSeal {
  readonly #key: KeyObject;
  readonly #now: () => number;
  readonly #ownMark: string;
  readonly #latest = new Map<string, number>();
  #sequence = 0;

  constructor(
    secret: string,
    /** This process, as the others see it. */
    readonly sender: string,
    now: () => number = Date.now,
  ) {
    this.#key = createSecretKey(secret, 'utf8');
    this.#now = now;
    this.#ownMark = `.${sender}.`;
  }

  seal(channel: string, text: string): string {
    this.#sequence = Math.max(this.#sequence + 1, this.#now() * PER_MS);
    const body = `${this.#sequence}.${this.sender}.${text}`;
    return this.macOf(channel, body) + body;
  }

  /** Without a look at the signature: what a stranger gains by naming us is that the message is dropped. */
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
    const now = this.#now();
    if (Math.abs(now - sequence / PER_MS) > AGE_MAX_MS) return { problem: 'out_of_time' };
    if (sequence <= (this.#latest.get(sender) ?? 0)) return { problem: 'replayed' };
    this.#latest.set(sender, sequence);
    if (this.#latest.size > SENDERS_MAX) this.#forgetSilent(now);
    return { sender, text: message.slice(head.length) };
  }

  /** Also for what is stored in Redis and not sent. */
  macOf(place: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${place}\n${text}`).digest('base64url').slice(0, MAC_LENGTH);
  }

  #forgetSilent(now: number): void {
    for (const [sender, sequence] of this.#latest)
      if (now - sequence / PER_MS > 2 * AGE_MAX_MS) this.#latest.delete(sender);
  }
}
