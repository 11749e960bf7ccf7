/**
 * What a settled call means for its target: decided, or certainly not sent and tried again.
 * Whether a decided one has another attempt is in retry/retry-delay.ts.
 */
import type { CallOutcome, ToolResult } from '@flotilla/mcp';
import type { Job, TargetDecision } from './job-types.js';

type TargetVerdict =
  | { readonly kind: 'decided'; readonly decision: TargetDecision; readonly result: ToolResult | undefined }
  /** Certainly not sent because the device is away: it waits, and no attempt is consumed. */
  | { readonly kind: 'waiting' }
  /** Certainly not sent: the device was busy or its gateway unreachable. Again after `delayMs`. */
  | { readonly kind: 'ready'; readonly delayMs: number };

/** Lets a device work off some of its queue, and is hardly noticed in a job. */
const overloadDelayMs = 1_000;

/** `outcome` has the failure text of the policy applied. */
export function judgeTarget(outcome: CallOutcome, { offline }: Pick<Job, 'offline'>): TargetVerdict {
  switch (outcome.kind) {
    case 'SUCCEEDED':
    case 'FAILED':
    case 'REJECTED':
    case 'UNKNOWN':
      return decided({ outcome: outcome.kind, certainty: outcome.certainty, error: outcome.error }, outcome.result);
    case 'NOT_SENT':
      return judgeNotSent(outcome, offline);
  }
}

function judgeNotSent(outcome: CallOutcome, offline: Job['offline']): TargetVerdict {
  const { error } = outcome;
  if (error?.code === 'OVERLOADED' || error?.code === 'UNAVAILABLE') return { kind: 'ready', delayMs: overloadDelayMs };
  // What the wire refuses (size, name) it will refuse again.
  if (error?.code !== 'DEVICE_OFFLINE' || offline === 'FAIL')
    return decided({ outcome: 'REJECTED', certainty: 'NEVER', error }, undefined);
  return offline === 'WAIT'
    ? { kind: 'waiting' }
    : decided({ outcome: 'SKIPPED', certainty: 'NEVER', error }, undefined);
}

function decided(decision: TargetDecision, result: ToolResult | undefined): TargetVerdict {
  return { kind: 'decided', decision, result };
}
