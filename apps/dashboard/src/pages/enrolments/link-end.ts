/** Why an enrolment link approves no more devices. */
import type { EnrolmentLinksQuery } from './generated/links';

type Link = Pick<EnrolmentLinksQuery['enrolmentLinks'][number], 'expiresAt' | 'usedCount' | 'maxDevices'>;

/** Undefined while the link approves devices. Revoked links are not listed. */
export function endOf({ expiresAt, usedCount, maxDevices }: Link, now = Date.now()): 'expired' | 'full' | undefined {
  if (Date.parse(expiresAt) <= now) return 'expired';
  return usedCount >= maxDevices ? 'full' : undefined;
}
