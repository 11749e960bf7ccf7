/** Facts that an operator should know before a job starts, although they do not prevent it. */
import type { FormerVersionGroup } from '@flotilla/registry';
import type { Actor } from '../../actor.js';
import { needsApproval } from '../../approvals/approval-rules.js';
import type { ApprovalRules, ApprovalSubject } from '../../approvals/approval-rules.js';

export interface JobWarning {
  readonly code: 'PLAIN_HTTP_DOWNLOAD' | 'NEEDS_APPROVAL' | 'FORMER_IMAGE_MISSING';
  readonly message: string;
  /** The number of devices concerned; undefined if the warning is about the whole job. */
  readonly deviceCount?: number;
  /** Facts without words around them, such as a board with its version. */
  readonly details: readonly string[];
}

/** Boards and versions that a warning names. */
const detailsMax = 5;

export interface JobWarningDeps {
  readonly approvals: ApprovalRules;
  /** Where connected devices fetch images; undefined where the hub has no known address. */
  readonly downloadOrigin: () => string | undefined;
}

export function warningsOf(
  { approvals, downloadOrigin }: JobWarningDeps,
  subject: ApprovalSubject & { readonly formerImagesMissing: readonly FormerVersionGroup[] },
  actor: Actor,
): readonly JobWarning[] {
  const warnings: JobWarning[] = [];
  const origin = subject.image === undefined ? undefined : downloadOrigin();
  if (origin?.startsWith('http:') === true) {
    const message =
      `Devices fetch the image from ${origin} without encryption: another computer on the way can replace it. ` +
      'Give the hub a certificate (FLOTILLA_TLS_CERT), or set FLOTILLA_PUBLIC_URL to an https address.';
    warnings.push({ code: 'PLAIN_HTTP_DOWNLOAD', message, details: [] });
  }
  if (needsApproval(approvals, subject, actor)) {
    const message = 'The job waits until another person approves it.';
    warnings.push({ code: 'NEEDS_APPROVAL', message, details: [] });
  }
  if (subject.formerImagesMissing.length > 0) warnings.push(formerImageMissing(subject.formerImagesMissing));
  return warnings;
}

/** A revert installs the version that a device ran before, so its image must be here. */
function formerImageMissing(groups: readonly FormerVersionGroup[]): JobWarning {
  const deviceCount = groups.reduce((sum, { count }) => sum + count, 0);
  const details = groups
    .slice(0, detailsMax)
    .map(({ model, version }) => `${model ?? 'unknown board'} ${version ?? 'unknown version'}`);
  const named = `${details.join(', ')}${groups.length > detailsMax ? ', …' : ''}`;
  const message =
    `This roll-out cannot be reverted on ${deviceCount} ${deviceCount === 1 ? 'device' : 'devices'}: ` +
    `no published image has the firmware that is there now (${named}). Upload and publish it before the start.`;
  return { code: 'FORMER_IMAGE_MISSING', message, deviceCount, details };
}
