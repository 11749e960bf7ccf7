/** Facts that an operator should know before a job starts, although they do not prevent it. */
import type { Actor } from '../../actor.js';
import { needsApproval } from '../../approvals/approval-rules.js';
import type { ApprovalRules, ApprovalSubject } from '../../approvals/approval-rules.js';

export interface JobWarning {
  readonly code: 'PLAIN_HTTP_DOWNLOAD' | 'NEEDS_APPROVAL';
  readonly message: string;
}

export interface JobWarningDeps {
  readonly approvals: ApprovalRules;
  /** Where connected devices fetch images; undefined where the hub has no known address. */
  readonly downloadOrigin: () => string | undefined;
}

export function warningsOf(
  { approvals, downloadOrigin }: JobWarningDeps,
  act: ApprovalSubject,
  actor: Actor,
): readonly JobWarning[] {
  const warnings: JobWarning[] = [];
  const origin = act.image === undefined ? undefined : downloadOrigin();
  if (origin?.startsWith('http:') === true) {
    const message =
      `Devices fetch the image from ${origin} without encryption: another computer on the way can replace it. ` +
      'Give the hub a certificate (FLOTILLA_TLS_CERT), or set FLOTILLA_PUBLIC_URL to an https address.';
    warnings.push({ code: 'PLAIN_HTTP_DOWNLOAD', message });
  }
  if (needsApproval(approvals, act, actor))
    warnings.push({ code: 'NEEDS_APPROVAL', message: 'The job waits until another person approves it.' });
  return warnings;
}
