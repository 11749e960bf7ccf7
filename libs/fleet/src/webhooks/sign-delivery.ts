/** The signature of a delivery, which proves to the receiver who sent it, and when. [docs/webhooks.md, "Signature"] */
import { createHmac } from 'node:crypto';

/** The value of `Flotilla-Signature`. The time is signed with the body, so that what was recorded once cannot be sent again for ever. */
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
