/**
 * Signs a delivery, so that the receiver can check its sender and time. [docs/webhooks.md,
 * "Signature"]
 */
import { createHmac } from 'node:crypto';

/**
 * The value of `Flotilla-Signature`. It covers the time, so that a recording cannot be replayed
 * later.
 */
export function signatureOf({
  secret,
  body,
  at,
}: {
  readonly secret: string;
  readonly body: string;
  readonly at: number;
}): string {
  const seconds = Math.floor(at / 1_000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
