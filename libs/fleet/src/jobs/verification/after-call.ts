/** Where a target goes when its call has ended and a verification follows, as its row will have it. */
import { applyFailureText, verificationDeadlines, verifyAfterCall } from '@flotilla/jobs';
import type { Job, VerificationTimes } from '@flotilla/jobs';
import type { CallError } from '@flotilla/mcp';
import type { ClaimedTarget, TargetFlush } from '@flotilla/registry';
import type { SettledCall } from '@flotilla/session';

/** Undefined where the end of the call decides. */
export function afterCall(
  settled: SettledCall,
  { baselineVersion }: Pick<ClaimedTarget, 'baselineVersion'>,
  job: Pick<Job, 'verification' | 'readback' | 'failureText' | 'firmwareImageId'>,
  times: VerificationTimes,
  imageBytes: number | undefined,
): TargetFlush['to'] | undefined {
  if (job.verification === 'READBACK' && job.readback === undefined) return undefined;
  const { settledAt, sentAt = settledAt } = settled;
  const outcome = applyFailureText(settled.outcome, job.failureText);
  const next = verifyAfterCall(job, { outcome, durationMs: settledAt - sentAt, baselineVersion });
  const { certainty, result } = outcome;
  const verifying = (error: CallError | undefined) =>
    ({
      kind: 'verifying',
      certainty,
      error,
      result,
      ...startOf(job, times, { sentAt, settledAt, imageBytes }),
    }) as const;
  switch (next.kind) {
    case 'decides':
      return undefined;
    case 'decided':
      // The next look knows whether the hub had cut the download, which the device does not.
      if (job.firmwareImageId !== undefined) return verifying(next.decision.error);
      return { kind: 'decided', ...next.decision, certainty, result };
    case 'verify':
      return verifying(next.error);
  }
}

function startOf(
  { verification }: Pick<Job, 'verification'>,
  times: VerificationTimes,
  at: { readonly sentAt: number; readonly settledAt: number; readonly imageBytes: number | undefined },
) {
  const { deadlineMs, softMs } = verificationDeadlines(verification, times, at.imageBytes);
  const isRead = verification === 'READBACK';
  const from = isRead ? at.settledAt : at.sentAt;
  return {
    deadlineAt: from + deadlineMs,
    softDeadlineAt: softMs === undefined ? undefined : from + softMs,
    readAt: isRead ? from + times.readbackDelayMs : undefined,
  };
}
