/**
 * What was checked when a roll-out was created, and is checked again before it sends: its image may
 * have been published by its creator, or have lost its signing key, since.
 */
import type { Job } from '@flotilla/jobs';
import type { JobMove, Registry } from '@flotilla/registry';
import { needsApproval, noApprovals } from '../../approvals/approval-rules.js';
import type { ApprovalRules } from '../../approvals/approval-rules.js';
import { unsignedImage } from '../../rollout/rollout-request.js';

export interface StartRules {
  readonly registry: Pick<Registry, 'firmwareImages'>;
  /** Which jobs wait for a second person (none). */
  readonly approvals?: ApprovalRules;
  /** Whether images need a valid signature (no). */
  readonly mustBeSigned?: boolean;
}

/** Undefined where the job may start. */
export async function moveInsteadOfStart(
  { registry, approvals = noApprovals, mustBeSigned = false }: StartRules,
  job: Job,
): Promise<JobMove | undefined> {
  if (job.firmwareImageId === undefined || (approvals.mode === 'off' && !mustBeSigned)) return undefined;
  const image = await registry.firmwareImages.find(job.firmwareImageId);
  // Devices get no withdrawn image, so that its job ends by itself.
  if (image === undefined || image.withdrawnAt !== undefined) return undefined;
  if (mustBeSigned && image.signedBy === undefined)
    return { state: 'CANCELLING', conclusion: 'ABORTED', reason: unsignedImage(image.version) };
  const { approvedBy, createdById, createdByOwner, disruptive, tool } = job;
  const subject = { tool, policy: { disruptive }, image };
  if (approvedBy !== undefined || !needsApproval(approvals, subject, { id: createdById, owner: createdByOwner }))
    return undefined;
  return { state: 'AWAITING_APPROVAL', reason: 'It needs an approval now, and did not when it was created.' };
}
