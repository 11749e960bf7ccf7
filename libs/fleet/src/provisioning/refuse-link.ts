/** Checks the limits of an enrolment link. It enrols without approval, so it always expires. */
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export interface LinkRequest {
  readonly name: string;
  readonly tags: readonly string[];
  readonly maxDevices: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

const devicesMax = 10_000;
const lifeDaysMax = 366;
const lifeMsMax = lifeDaysMax * 86_400_000;

export function refuseLink(
  { maxDevices, expiresAt }: LinkRequest,
  path: readonly string[],
  now: number,
): Refusal | undefined {
  if (maxDevices < 1) return refuse('INVALID', [...path, 'maxDevices'], 'A link is for at least one device.');
  if (maxDevices > devicesMax)
    return refuse('LIMIT_EXCEEDED', [...path, 'maxDevices'], `A link is for at most ${String(devicesMax)} devices.`);
  if (expiresAt <= now) return refuse('INVALID', [...path, 'expiresAt'], 'The link would have expired already.');
  if (expiresAt - now > lifeMsMax)
    return refuse('LIMIT_EXCEEDED', [...path, 'expiresAt'], `A link lives at most ${String(lifeDaysMax)} days.`);
  return undefined;
}
