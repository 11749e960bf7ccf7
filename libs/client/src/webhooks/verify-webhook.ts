/**
 * Verifies a webhook: `Flotilla-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`.
 * Needs WebCrypto only.
 */
import { FlotillaError } from '../flotilla-error.js';
import type { Event } from '../generated/schema-types.js';

/** Maximum clock difference in seconds; an older delivery may be a replay. */
const TOLERANCE_SECONDS = 300;

export interface VerifyOptions {
  readonly toleranceSeconds?: number;
  /** Unix seconds. */
  readonly now?: number;
}

/**
 * Returns the event of a delivery. `body` must be the received bytes, unparsed. Throws
 * FlotillaError WEBHOOK_INVALID if the signature or its time is wrong.
 */
export async function verifyWebhook(
  secret: string,
  header: string | null | undefined,
  body: string | Uint8Array<ArrayBuffer>,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() / 1_000 }: VerifyOptions = {},
): Promise<Event> {
  const { time, signatures } = partsOf(header ?? '');
  if (time === undefined || signatures.length === 0) throw invalid('the header has no time and signature');
  if (Math.abs(now - Number(time)) > toleranceSeconds) throw invalid('it is too old, or a clock is wrong');
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', text.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  const bytes = typeof body === 'string' ? text.encode(body) : body;
  const signed = joined(text.encode(`${time}.`), bytes);
  // Compares in constant time.
  const verdicts = await Promise.all(
    signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
  );
  if (!verdicts.includes(true)) throw invalid('the signature is another');
  return JSON.parse(new TextDecoder().decode(bytes)) as Event;
}

interface SignatureParts {
  readonly time: string | undefined;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

/** Parts of other names are for later: they are passed over. */
function partsOf(header: string): SignatureParts {
  const parts = header.split(',').map((part) => part.trim());
  return {
    time: parts.map((part) => /^t=(\d{1,15})$/.exec(part)?.[1]).find((time) => time !== undefined),
    signatures: parts.flatMap((part) => {
      const hex = /^v1=((?:[\da-f]{2}){32})$/i.exec(part)?.[1];
      return hex === undefined ? [] : [Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))];
    }),
  };
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function invalid(reason: string): FlotillaError {
  return new FlotillaError('WEBHOOK_INVALID', `This webhook is not to be trusted: ${reason}.`);
}
