/** The ends of claims, and how they become the parameters of flush-targets.sql. */
import type { AttemptEnd } from '@flotilla/jobs';
import type { DeviceId } from '@flotilla/mcp';
import type { JobFence } from '../job-fence.js';
import { storableText } from '../../database/json-rows.js';
import { DistinctResults } from './distinct-results.js';

/** The end of a claim. */
export interface TargetFlush {
  readonly deviceId: DeviceId;
  /** The claim number, as a fence: a later claim makes this end void. */
  readonly claim: number;
  readonly to: AttemptEnd;
  readonly startedAt: number | undefined;
  readonly at: number;
}

const STATES = {
  decided: 'DECIDED',
  verifying: 'VERIFYING',
  waiting: 'WAITING_DEVICE',
  ready: 'READY',
  retry: 'RETRY_WAIT',
} as const;

/**
 * The end of a claim without its times. Most targets of a batch end alike, so each distinct end
 * is sent once.
 */
interface End {
  readonly state: string;
  readonly outcome: string | undefined;
  readonly certainty: string | undefined;
  readonly errorCode: string | undefined;
  readonly errorMessage: string | undefined;
  readonly rpcCode: number | undefined;
  readonly resultHash: string | undefined;
  readonly isEnd: boolean;
}

export function flushParameters({ jobId, fence }: JobFence, flushes: readonly TargetFlush[]) {
  const results = new DistinctResults();
  const ends = new Map<string, { readonly place: number; readonly end: End }>();
  const places = flushes.map(({ to }) => placeOf(endOf(to, results), ends));
  const distinct = [...ends.values()].map(({ end }) => end);
  const verifying = flushes.map(({ to }) => (to.kind === 'verifying' ? to : undefined));
  return {
    jobId,
    fence,
    hashes: results.hashes,
    bodies: results.bodies,
    states: distinct.map(({ state }) => state),
    outcomes: distinct.map(({ outcome }) => outcome),
    certainties: distinct.map(({ certainty }) => certainty),
    errorCodes: distinct.map(({ errorCode }) => errorCode),
    errorMessages: distinct.map(({ errorMessage }) => errorMessage),
    rpcCodes: distinct.map(({ rpcCode }) => rpcCode),
    resultHashes: distinct.map(({ resultHash }) => resultHash),
    areEnds: distinct.map(({ isEnd }) => isEnd),
    deviceIds: flushes.map(({ deviceId }) => deviceId),
    claims: arrayLiteral(flushes.map(({ claim }) => claim)),
    places: arrayLiteral(places),
    startedAts: arrayLiteral(flushes.map(({ startedAt }) => startedAt)),
    ats: arrayLiteral(flushes.map(({ at }) => at)),
    retryAts: arrayLiteral(flushes.map(({ to }) => dueAt(to))),
    deadlines: arrayLiteral(verifying.map((start) => start?.deadlineAt)),
    softDeadlines: arrayLiteral(verifying.map((start) => start?.softDeadlineAt)),
  };
}

/** The end without the result and the texts of the device. */
export function bareFlush(flush: TargetFlush): TargetFlush {
  const { to } = flush;
  if (to.kind === 'waiting' || to.kind === 'ready') return flush;
  const error = to.error && { code: to.error.code, message: 'The answer of the device could not be stored.' };
  return { ...flush, to: to.kind === 'retry' ? { ...to, error } : { ...to, error, result: undefined } };
}

function endOf(to: AttemptEnd, results: DistinctResults): End {
  // A target that was not sent keeps the error of its previous attempt.
  const end = to.kind === 'decided' || to.kind === 'verifying' || to.kind === 'retry' ? to : undefined;
  const result = to.kind === 'decided' || to.kind === 'verifying' ? to.result : undefined;
  return {
    state: STATES[to.kind],
    outcome: to.kind === 'decided' ? to.outcome : undefined,
    certainty: end?.certainty,
    errorCode: end?.error?.code,
    errorMessage: end?.error && storableText(end.error.message),
    rpcCode: end?.error?.rpcCode,
    resultHash: result && results.add(result),
    isEnd: end !== undefined,
  };
}

/** When the target may be claimed again, or its value be read. */
function dueAt(to: AttemptEnd): number | undefined {
  return to.kind === 'ready' || to.kind === 'retry' ? to.notBefore : to.kind === 'verifying' ? to.readAt : undefined;
}

/** The number of the end among the distinct ones, from 1, like WITH ORDINALITY. */
function placeOf(end: End, ends: Map<string, { readonly place: number; readonly end: End }>): number {
  const key = JSON.stringify(end);
  const known = ends.get(key);
  if (known !== undefined) return known.place;
  ends.set(key, { place: ends.size + 1, end });
  return ends.size;
}

/**
 * An array in the syntax of PostgreSQL, because pg would escape each number. Without any number it
 * is empty; `unnest` pads it.
 */
function arrayLiteral(numbers: readonly (number | undefined)[]): string {
  return numbers.every((number) => number === undefined)
    ? '{}'
    : `{${numbers.map((number) => number ?? 'NULL').join(',')}}`;
}
