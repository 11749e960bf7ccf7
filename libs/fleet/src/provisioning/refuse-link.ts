/** Checks the limits of an enrolment link. It enrols without approval, so it always expires. */
import { LINKS_MAX } from '@flotilla/registry';
import type { EnrolmentLinkRow, NewEnrolmentLink } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

const devicesMax = 10_000;
const lifeDaysMax = 366;
const lifeMsMax = lifeDaysMax * 86_400_000;

export function refuseLink(
  { maxDevices, expiresAt }: NewEnrolmentLink,
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

export function refuseAnotherLink(links: readonly EnrolmentLinkRow[], now: number): Refusal | undefined {
  const valid = links.filter(({ expiresAt, revokedAt }) => revokedAt === undefined && expiresAt > now);
  if (valid.length < LINKS_MAX) return undefined;
  return refuse('LIMIT_EXCEEDED', [], `There are ${LINKS_MAX} valid links: revoke one that is not needed.`);
}
