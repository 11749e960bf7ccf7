/** The targets of a job in VERIFYING: when they are judged, and which values are read. */
import type { CallId, CallOutcomeKind } from '@flotilla/mcp';
import type { Job } from '../job-types.js';
import { judgeVerification } from '../verification/judge-verification.js';
import { endOfVerification, isStuck } from '../verification/verification-end.js';
import type { VerificationEnd, VerifyingTarget } from '../verification/verification-end.js';
import type { VerificationVerdict } from '../verification/verification-evidence.js';
import { verifyAfterLateAnswer } from '../verification/verify-after-call.js';
import type { StuckDevice, TaskReport } from './run-input.js';
import { slotsTaken } from './run-state.js';
import type { VerifyingState } from './run-state.js';
import { start, update } from './turn.js';
import type { Turn } from './turn.js';

/** Between two looks, ms, where no device has returned. */
const lookEveryMs = 1_000;
/** The share of its time that a job with very many targets spends on looks. */
const lookShare = 0.05;
/** Reads of one statement. */
const readsMax = 500;
/** Late answers that wait for a look. */
const lateAnswersMax = 1_000;

/** True where a task was started. */
export function verify(turn: Turn): boolean {
  const { job, verifying, round } = turn.run;
  if (job.verification === 'NONE') return false;
  if (verifying.isReadEndWaiting) {
    updateVerifying(turn, { isReadEndWaiting: false });
    start(turn, { kind: 'writeReadEnds' });
  } else if (verifying.isAnyExpected && turn.now >= verifying.lookAt && !round.hasLooked) {
    update(turn, { round: { ...round, hasLooked: true } });
    const { lateAnswers } = verifying;
    const look = { from: turn.now, count: 0, isOneMoreExpected: false, lateAnswers };
    updateVerifying(turn, { look, lateAnswers: new Map() });
    start(turn, { kind: 'readVerifying', callIds: [...lateAnswers.keys()] });
  } else return false;
  return true;
}

/** Targets are in VERIFYING, or are about to be. */
export function expectVerifications(turn: Turn): void {
  const { job, rules, verifying } = turn.run;
  const settleMs = job.readback?.settleMs ?? rules.verification.readbackDelayMs;
  const lookAt = Math.min(verifying.lookAt, turn.now + settleMs);
  // A look that is under way may have read before these were written.
  const look = verifying.look && { ...verifying.look, isOneMoreExpected: true };
  updateVerifying(turn, { isAnyExpected: true, look, ...(job.verification === 'READBACK' && { lookAt }) });
}

export function lookNow(turn: Turn): void {
  update(turn, { round: { ...turn.run.round, hasLooked: false } });
  updateVerifying(turn, { lookAt: -Infinity });
  turn.isWoken = true;
}

/**
 * The next look judges all late answers at once, as each reads all targets. Only that to an upgrade
 * says anything. A soft deadline replaces one that is dropped.
 */
export function answeredLate(turn: Turn, callId: CallId, outcome: CallOutcomeKind): void {
  const { job, verifying } = turn.run;
  const { isAnyExpected, lateAnswers } = verifying;
  if (job.verification !== 'FIRMWARE' || !isAnyExpected || lateAnswers.size >= lateAnswersMax) return;
  updateVerifying(turn, { lateAnswers: new Map([...lateAnswers, [callId, outcome]]) });
}

/** Judges all targets of a look, each by its late answer where that says anything. */
export function verifyingRead(turn: Turn, { count, targets }: Extract<TaskReport, { kind: 'verifyingRead' }>): void {
  const { job, rules, verifying } = turn.run;
  const { look } = verifying;
  if (look === undefined) return;
  updateVerifying(turn, { look: { ...look, count } });
  write(
    turn,
    targets.map((target) => {
      const late = judgeLate(job, target, look.lateAnswers.get(target.callId));
      return [target, late ?? judgeVerification(job.verification, target, rules.verification, turn.now)];
    }),
  );
}

/** Undefined where the late answer, or none, leaves the verdict to the device. */
function judgeLate(
  job: Job,
  { baselineVersion }: VerifyingTarget,
  kind: CallOutcomeKind | undefined,
): VerificationVerdict | undefined {
  if (kind === undefined) return undefined;
  const ended = { outcome: { kind, certainty: 'YES' }, durationMs: job.callTimeoutMs, baselineVersion } as const;
  const verdict = verifyAfterLateAnswer(job, ended);
  return verdict.kind === 'pending' ? undefined : verdict;
}

function write(turn: Turn, judged: readonly (readonly [VerifyingTarget, VerificationVerdict])[]): void {
  const ends: VerificationEnd[] = [];
  const stuck: StuckDevice[] = [];
  for (const [target, verdict] of judged) {
    const end = endOfVerification(turn.run.job, target, verdict);
    if (end === undefined) continue;
    ends.push(end);
    const { deviceId, sentEpoch, gatewayId } = target;
    if (isStuck(end.to) && gatewayId !== undefined) stuck.push({ deviceId, epoch: sentEpoch, gatewayId });
  }
  if (ends.length === 0) return looked(turn, 0);
  updateVerifying(turn, { stuck });
  start(turn, { kind: 'writeVerifications', ends });
}

export function verificationsWritten(
  turn: Turn,
  { moved, isSomeReady }: Extract<TaskReport, { kind: 'verificationsWritten' }>,
): void {
  const { verifying, mayHaveReady } = turn.run;
  const devices = verifying.stuck.filter(({ deviceId }) => moved.has(deviceId));
  if (devices.length > 0) turn.effects.push({ kind: 'restartDevices', devices });
  updateVerifying(turn, { stuck: [] });
  if (moved.size > 0) {
    update(turn, { isEndPossible: true, areWaveCountersDue: true, mayHaveReady: mayHaveReady || isSomeReady });
    turn.effects.push({ kind: 'notify' });
  }
  looked(turn, moved.size);
}

/** After the ends of a look are written: reads of values are next where the job has any. */
function looked(turn: Turn, settled: number): void {
  const { job, verifying } = turn.run;
  if (verifying.look === undefined) return;
  updateVerifying(turn, { isAnyExpected: verifying.look.isOneMoreExpected || verifying.look.count > settled });
  if (job.verification !== 'READBACK' || job.readback === undefined) return lookLater(turn, false);
  const limit = Math.min(job.maxInFlight - slotsTaken(turn.run), readsMax);
  if (limit <= 0) return lookLater(turn, true);
  start(turn, { kind: 'beginReads', limit });
}

/** Ends the look. The next one is at once if more values are due to be read. */
export function lookLater(turn: Turn, isMoreDue: boolean): void {
  const { now } = turn;
  const { look } = turn.run.verifying;
  const lookAt = isMoreDue ? now : now + Math.max(lookEveryMs, (now - (look?.from ?? now)) / lookShare);
  updateVerifying(turn, { look: undefined, lookAt });
}

function updateVerifying(turn: Turn, change: Partial<VerifyingState>): void {
  update(turn, { verifying: { ...turn.run.verifying, ...change } });
}
