/**
 * Calls as a file, latest first, such as those that failed last week. Arguments are left out: who
 * may see which of them depends on the tool and the viewer.
 */
import type { CallRow, CallStore, Principal } from '@flotilla/registry';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.js';
import { boundOf } from './read-times.js';
import { fileEndings, sendRows, textOfResult } from './row-files.js';
import type { RestRoute } from './rest-routes.js';

/** That a call can have. */
export const callOutcomes = [
  'SUCCEEDED',
  'NO_CHANGE',
  'FAILED',
  'REJECTED',
  'VERIFY_FAILED',
  'UNKNOWN',
  'NOT_SENT',
  'EXPIRED',
  'CANCELLED',
  'SKIPPED',
] as const;

const querySchema = z.strictObject({
  deviceId: z.string().optional(),
  tool: z.string().optional(),
  jobId: z.string().optional(),
  outcome: z.union([z.enum(callOutcomes).transform((one) => [one]), z.array(z.enum(callOutcomes))]).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
});

const columns = [
  'startedAt',
  'deviceId',
  'tool',
  'outcome',
  'errorCode',
  'errorMessage',
  'rpcCode',
  'durationMs',
  'actor',
  'jobId',
  'result',
];

/** `callsFor` says what a viewer sees. */
export function callExports(callsFor: (viewer: Principal) => Pick<CallStore, 'page'>): readonly RestRoute[] {
  return fileEndings.map((ending) => ({
    method: 'GET',
    url: `/api/calls.${ending}`,
    scope: 'DEVICES_READ',
    handle: async (request, reply, viewer) => {
      const filter = readFilter(request.query);
      const calls = callsFor(viewer);
      return sendRows(
        reply,
        { name: 'calls', shown, columns, cells, page: (part) => calls.page(filter, part) },
        ending,
      );
    },
  }));
}

function readFilter(query: unknown) {
  const read = querySchema.safeParse(query);
  if (!read.success) throw new ApiError('BAD_USER_INPUT', messageOf(read.error.issues[0]));
  const { outcome, since, until, ...plain } = read.data;
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  return {
    ...(given as { readonly deviceId?: string; readonly tool?: string; readonly jobId?: string }),
    ...(outcome !== undefined && { outcomes: outcome }),
    ...boundOf('since', since),
    ...boundOf('until', until),
  };
}

function messageOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'unrecognized_keys')
    return (
      `There is no parameter "${issue.keys[0] ?? ''}". An export takes "deviceId", "tool", "jobId", "outcome" ` +
      '(also several times), "since" and "until".'
    );
  if (issue?.path[0] === 'outcome') return `"outcome" is one of ${callOutcomes.join(', ')}.`;
  return `"${String(issue?.path[0])}" is given once, as a text.`;
}

function shown({ deviceId, tool, outcome, error, startedAt, durationMs, actor, jobId, result, id }: CallRow) {
  return {
    id,
    startedAt: new Date(startedAt).toISOString(),
    deviceId,
    tool,
    outcome: outcome ?? null,
    error: error ?? null,
    durationMs: durationMs ?? null,
    actor,
    jobId: jobId ?? null,
    result: result ?? null,
  };
}

function cells(row: CallRow) {
  const { error, result, ...plain } = shown(row);
  return {
    ...plain,
    errorCode: error?.code,
    errorMessage: error?.message,
    rpcCode: error?.rpcCode,
    result: result === null ? undefined : textOfResult(result),
  };
}
