/**
 * What callers were answered, what devices ran, what PostgreSQL stores and what webhooks received,
 * held against each other. Each function returns the contradictions as sentences.
 */
import type { DeviceRun } from '../crash/device-witness.js';
import { countersDiffer, runsContradict, runsOf } from '../crash/job-promises.js';
import type { RecordedJob } from '../crash/job-records.js';
import { markOf, ONCE_TOOL, type LoadedJob, type SingleCall } from './steady-load.js';

/** Codes that say what is wrong and what a caller may do. Any other is a fault of the hub. */
const clear: ReadonlySet<string> = new Set([
  'DEVICE_OFFLINE',
  'GATEWAY_UNREACHABLE',
  'HUB_RESTARTED',
  'OVERLOADED',
  'SESSION_CLOSED',
  'TIMEOUT',
  'UNAVAILABLE',
]);

export function unclearErrors(codes: Iterable<string>): readonly string[] {
  return [...new Set(codes)].filter((code) => !clear.has(code)).map((code) => `a caller was answered ${code}`);
}

/** Each single call ran as often as its answer says. */
export function callsContradict(calls: readonly SingleCall[], runs: readonly DeviceRun[]): readonly string[] {
  const runsByMark = new Map<unknown, number>();
  for (const { args } of runs) runsByMark.set(args['theme'], (runsByMark.get(args['theme']) ?? 0) + 1);
  return calls.flatMap(({ mark, deviceId, tool, outcome, code, isRepeated }) => {
    if (tool !== ONCE_TOOL) return outcome === undefined ? [`call ${mark} has no answer`] : [];
    const count = runsByMark.get(markOf(mark)) ?? 0;
    const isWrong =
      outcome === undefined ||
      count > 1 ||
      (outcome === 'SUCCEEDED' && count === 0) ||
      // A repeated request may be refused although the first one, whose answer was lost, was not.
      (['NOT_SENT', 'REJECTED', 'REFUSED'].includes(outcome) && count > 0 && !isRepeated);
    const says = `call ${mark} of ${tool} on ${deviceId}: answered ${outcome} ${code ?? ''}, and it ran ${count} times`;
    return isWrong ? [says] : [];
  });
}

/** Each job ended, its counters are its rows, and its devices ran what the rows say. */
export function jobsContradict(
  jobs: readonly LoadedJob[],
  records: ReadonlyMap<string, RecordedJob>,
  runs: readonly DeviceRun[],
): readonly string[] {
  return jobs.flatMap(({ id, shape }) => {
    const job = records.get(id ?? '');
    if (job === undefined) return [`${shape.name} was accepted and is lost`];
    if (job.state !== 'FINISHED') return [`${shape.name} is ${job.state}`];
    const made = { shape, id, steerings: [] };
    return [...countersDiffer(job), ...runsContradict({ job, made, runs: runsOf(shape, runs) })];
  });
}

/**
 * A row of an answered call has the same outcome, or UNKNOWN. It may be missing if the caller
 * learned so: the claim of the key committed, and the answer of PostgreSQL was lost.
 */
export function rowsContradict(
  calls: readonly SingleCall[],
  rows: readonly { readonly id: string; readonly outcome: string }[],
): readonly string[] {
  const outcomes = new Map(rows.map(({ id, outcome }) => [id, outcome]));
  return calls.flatMap(({ code, id, isRepeated, mark, outcome }) => {
    const stored = outcomes.get(id ?? '');
    const isKnownMissing = stored === undefined && isRepeated && code === 'HUB_RESTARTED';
    if (id === undefined || stored === outcome || stored === 'UNKNOWN' || isKnownMissing) return [];
    return [`call ${mark} was answered ${outcome} ${code ?? ''}, and its row is ${stored ?? 'missing'}`];
  });
}
