/** What the hub says of its jobs: read after each restart, and once more at the end. */
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export interface RecordedTarget {
  readonly deviceId: string;
  readonly wave: number;
  readonly state: string;
  readonly outcome: string | null;
  readonly attempts: number;
  readonly late: boolean;
  readonly decidedAt: string | null;
  readonly error: { readonly code: string } | null;
}

export interface RecordedJob {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly conclusion: string | null;
  readonly createdAt: string;
  readonly waves: readonly {
    readonly number: number;
    readonly size: number;
    readonly openedAt: string | null;
    readonly approvedBy: string | null;
  }[];
  readonly trippedRule: { readonly failed: number; readonly at: string } | null;
  readonly progress: Readonly<Record<string, number>>;
  readonly targets: readonly RecordedTarget[];
}

/** When a target's latest attempt was under way, ms since the Unix epoch. */
export interface RecordedCall {
  readonly deviceId: string;
  readonly from: number;
  readonly to: number;
}

export interface RecordedMove {
  readonly action: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly version: number | undefined;
}

const COUNTERS =
  'pending waitingDevice inFlight verifying succeeded noChange failed rejected verifyFailed ' +
  'unknown expired cancelled skipped';
const JOB = `id name state conclusion createdAt waves { number size openedAt approvedBy }
  trippedRule { failed at } progress { total ${COUNTERS} }
  targets(first: 200) {
    nodes { deviceId wave state outcome attempts late decidedAt error { code } } pageInfo { hasNextPage }
  }`;

/** A job and its targets, as one answer of the hub. */
export async function recordOf(hub: HubProcess, id: string): Promise<RecordedJob> {
  const { job } = await ask<{
    job: RecordedJob & { targets: { nodes: RecordedTarget[]; pageInfo: { hasNextPage: boolean } } };
  }>(hub, `query ($id: ID!) { job(id: $id) { ${JOB} } }`, { id });
  if (job.targets.pageInfo.hasNextPage) throw new Error('The story has more devices than one page of targets.');
  return { ...job, targets: job.targets.nodes };
}

export async function jobsNamed(hub: HubProcess): Promise<readonly { readonly id: string; readonly name: string }[]> {
  const { jobs } = await ask<{ jobs: { nodes: { id: string; name: string }[]; pageInfo: { hasNextPage: boolean } } }>(
    hub,
    '{ jobs(first: 200) { nodes { id name } pageInfo { hasNextPage } } }',
  );
  if (jobs.pageInfo.hasNextPage) throw new Error('The story has more jobs than one page.');
  return jobs.nodes;
}

export async function callsOf(hub: HubProcess, jobId: string): Promise<readonly RecordedCall[]> {
  const query = `query ($jobId: ID!) {
      calls(filter: { jobId: $jobId }, first: 200) { nodes { deviceId startedAt durationMs outcome } }
    }`;
  const { calls } = await ask<{
    calls: { nodes: { deviceId: string; startedAt: string; durationMs: number | null }[] };
  }>(hub, query, {
    jobId,
  });
  return calls.nodes.map(({ deviceId, startedAt, durationMs }) => ({
    deviceId,
    from: Date.parse(startedAt),
    to: Date.parse(startedAt) + (durationMs ?? 0),
  }));
}

/** Oldest first. */
export async function movesOf(hub: HubProcess, jobId: string): Promise<readonly RecordedMove[]> {
  const query =
    'query ($subject: String!) { auditEntries(filter: { subject: $subject }, first: 200) { nodes { action data } } }';
  const { auditEntries } = await ask<{
    auditEntries: { nodes: { action: string; data: Omit<RecordedMove, 'action'> }[] };
  }>(hub, query, {
    subject: `job:${jobId}`,
  });
  return auditEntries.nodes.map(({ action, data: { from, to, version } }) => ({ action, from, to, version })).reverse();
}

/**
 * The outcomes of the targets with times in ms since the job was created, for the search of a
 * broken promise.
 */
export function endsOf({ createdAt, targets, trippedRule }: RecordedJob): string {
  const after = (time: string | null): number => (time === null ? NaN : Date.parse(time) - Date.parse(createdAt));
  const kinds = new Map<string, number[]>();
  for (const { attempts, decidedAt, error, late, outcome, state } of targets) {
    const kind = [outcome ?? state, error?.code, late && 'late', `sent ${attempts}`].filter(Boolean).join(' ');
    kinds.set(kind, [...(kinds.get(kind) ?? []), after(decidedAt)]);
  }
  const told = [...kinds].map(
    ([kind, times]) => `${times.length} ${kind} at ${Math.min(...times)} to ${Math.max(...times)}`,
  );
  const tripped =
    trippedRule === null
      ? 'no rule tripped'
      : `a rule tripped at ${after(trippedRule.at)} with ${trippedRule.failed} failed`;
  return `(${[...told, tripped].join('; ')})`;
}

/** Sum of all counters but the total. */
export function sumOfCounters({ progress }: RecordedJob): number {
  return COUNTERS.split(' ').reduce((sum, counter) => sum + (progress[counter] ?? 0), 0);
}
