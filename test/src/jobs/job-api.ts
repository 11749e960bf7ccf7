/** Jobs as an integrator drives them. */
import { eventually } from '../eventually.js';
import { ask } from '../api/graphql-client.js';
import type { HubProcess } from '../hub/hub-process.js';

export interface JobNode {
  readonly id: string;
  readonly state: string;
  readonly conclusion: string | null;
  readonly progress: Readonly<Record<(typeof counters)[number] | 'total', number>>;
}

export interface TargetNode {
  readonly deviceId: string;
  readonly wave: number;
  readonly state: string;
  readonly outcome: string | null;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const counters = [
  'pending',
  'waitingDevice',
  'inFlight',
  'verifying',
  'succeeded',
  'noChange',
  'failed',
  'rejected',
  'verifyFailed',
  'unknown',
  'expired',
  'cancelled',
  'skipped',
] as const;

const JOB = `id state conclusion progress { total ${counters.join(' ')} }`;

export interface JobAnswer {
  readonly job: JobNode | null;
  readonly userErrors: readonly { readonly code: string; readonly message: string }[];
}

export async function createJob(
  hub: HubProcess,
  input: Readonly<Record<string, unknown>>,
  idempotencyKey: string,
): Promise<JobAnswer> {
  const query = `mutation ($input: CreateJobInput!, $key: String!) {
    createJob(input: $input, idempotencyKey: $key) { job { ${JOB} } userErrors { code message } }
  }`;
  return (await ask<{ createJob: JobAnswer }>(hub, query, { input, key: idempotencyKey })).createJob;
}

/** Creates a job that must be taken, and returns its id. */
export async function jobOf(
  hub: HubProcess,
  input: Readonly<Record<string, unknown>>,
  idempotencyKey: string,
): Promise<string> {
  const { job, userErrors } = await createJob(hub, input, idempotencyKey);
  if (!job) throw new Error(`createJob refused: ${JSON.stringify(userErrors)}`);
  return job.id;
}

export async function steerJob(
  hub: HubProcess,
  verb: 'pauseJob' | 'resumeJob' | 'cancelJob',
  id: string,
): Promise<JobAnswer> {
  return (
    await ask<Record<string, JobAnswer>>(
      hub,
      `mutation ($id: ID!) { ${verb}(id: $id) { job { ${JOB} } userErrors { code message } } }`,
      {
        id,
      },
    )
  )[verb] as JobAnswer;
}

export async function readJob(hub: HubProcess, id: string): Promise<JobNode> {
  return (await ask<{ job: JobNode }>(hub, `query ($id: ID!) { job(id: $id) { ${JOB} } }`, { id })).job;
}

/** Waits for FINISHED. */
export function finished(hub: HubProcess, id: string, withinMs = 60_000): Promise<JobNode> {
  return eventually(
    () => readJob(hub, id),
    (job) => job.state === 'FINISHED',
    withinMs,
  );
}

/** All targets of a job, page by page. */
export async function targetsOf(hub: HubProcess, id: string): Promise<readonly TargetNode[]> {
  const query = `query ($id: ID!, $after: String) { job(id: $id) { targets(first: 200, after: $after) {
    nodes { deviceId wave state outcome attempts error { code message } } pageInfo { hasNextPage endCursor } } } }`;
  const found: TargetNode[] = [];
  let after: string | null = null;
  for (;;) {
    const {
      job,
    }: { job: { targets: { nodes: TargetNode[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } } } =
      await ask(hub, query, { id, after });
    found.push(...job.targets.nodes);
    if (!job.targets.pageInfo.hasNextPage) return found;
    after = job.targets.pageInfo.endCursor;
  }
}

/** Sum of all counters but the total: must always be the total. */
export function sumOf({ progress }: JobNode): number {
  return counters.reduce((sum, name) => sum + progress[name], 0);
}

/** How many devices are online. */
export async function onlineCount(hub: HubProcess): Promise<number> {
  const query = '{ devices(filter: { presence: ONLINE }) { totalCount } }';
  return (await ask<{ devices: { totalCount: number } }>(hub, query)).devices.totalCount;
}

/** Waits until this many devices are online. */
export function online(hub: HubProcess, count: number, withinMs = 60_000): Promise<number> {
  return eventually(
    () => onlineCount(hub),
    (total) => total === count,
    withinMs,
  );
}

/** The failures of a job by kind, and the devices that rejected its call. */
export interface JobFailures {
  readonly progress: { readonly rejected: number };
  readonly failureGroups: readonly { readonly code: string; readonly count: number }[];
  readonly targets: {
    readonly nodes: readonly { readonly deviceId: string; readonly device: { readonly id: string } }[];
  };
}

export async function failuresOf(hub: HubProcess, jobId: string): Promise<JobFailures> {
  const query = `query ($id: ID!) { job(id: $id) { conclusion progress { total rejected }
    failureGroups { outcome code count sampleDeviceIds }
    targets(outcomes: [REJECTED], first: 200) { nodes { deviceId device { id } outcome error { code } } } } }`;
  return (await ask<{ job: JobFailures }>(hub, query, { id: jobId })).job;
}

export async function jobCount(hub: HubProcess): Promise<number> {
  return (await ask<{ jobs: { totalCount: number } }>(hub, '{ jobs(first: 1) { totalCount } }')).jobs.totalCount;
}

export async function setToolPolicy(hub: HubProcess, input: object): Promise<void> {
  const mutation = 'mutation ($input: ToolPolicyInput!) { setToolPolicy(input: $input) { userErrors { message } } }';
  await ask(hub, mutation, { input });
}
