/** Where a target goes when its call has ended and a verification follows, as its row will have it. */
import { applyFailureText, verificationDeadlines, verifyAfterCall } from '@flotilla/jobs';
import type { Job, VerificationTimes } from '@flotilla/jobs';
import type { ClaimedTarget, TargetFlush } from '@flotilla/registry';
import type { SettledCall } from '@flotilla/session';

/** Undefined where the end of the call decides. */
export function afterCall(
  settled: SettledCall,
  { baselineVersion }: Pick<ClaimedTarget, 'baselineVersion'>,
  job: Pick<Job, 'verification' | 'readback' | 'failureText'>,
  times: VerificationTimes,
  imageBytes: number | undefined,
): TargetFlush['to'] | undefined {
  if (job.verification === 'READBACK' && job.readback === undefined) return undefined;
  const { settledAt, sentAt = settledAt } = settled;
  const outcome = applyFailureText(settled.outcome, job.failureText);
  const next = verifyAfterCall(job, { outcome, durationMs: settledAt - sentAt, baselineVersion });
  const { certainty, result } = outcome;
  switch (next.kind) {
    case 'decides':
      return undefined;
    case 'decided':
      return { kind: 'decided', ...next.decision, certainty, result };
    case 'verify':
      return { kind: 'verifying', certainty, error: next.error, result, ...startOf(job, times, { sentAt, settledAt, imageBytes }) };
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
