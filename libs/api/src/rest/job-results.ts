/** The results of a job as a file, with one line per target. */
import type { JobReads, Principal, TargetRow } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import { fileEndings, sendRows, textOfResult } from './row-files.js';
import type { RestRoute } from './rest-routes.js';

type JobRows = Pick<JobReads, 'find' | 'targets'>;

const columns = [
  'deviceId',
  'wave',
  'state',
  'outcome',
  'attempts',
  'errorCode',
  'errorMessage',
  'rpcCode',
  'late',
  'decidedAt',
  'result',
];

/** `jobsFor` says what a viewer sees: of a wider job a scoped key has its own targets. */
export function jobResultRoutes(jobsFor: (viewer: Principal) => JobRows): readonly RestRoute[] {
  return fileEndings.map((ending) => ({
    method: 'GET',
    url: `/api/jobs/:id/results.${ending}`,
    scope: 'JOBS_READ',
    handle: async (request, reply, viewer) => {
      const jobs = jobsFor(viewer);
      const { id } = request.params as { readonly id: string };
      const job = await jobs.find(id);
      if (job === undefined) throw new ApiError('NOT_FOUND', `There is no job "${id.slice(0, 100)}".`);
      // By device id. A job that still runs is read as it is while the reading goes on.
      const page = async (part: Parameters<JobRows['targets']>[2]) => (await jobs.targets([job.id], {}, part))[0];
      return sendRows(reply, { name: `job-${job.id}`, shown, columns, cells, page }, ending);
    },
  }));
}

function shown(row: TargetRow) {
  const { deviceId, wave, state, outcome, attempts, error, result, late } = row;
  const decidedAt = row.decidedAt === undefined ? null : new Date(row.decidedAt).toISOString();
  return {
    deviceId,
    wave,
    state,
    outcome: outcome ?? null,
    attempts,
    error: error ?? null,
    result: result ?? null,
    late,
    decidedAt,
  };
}

function cells(row: TargetRow) {
  const { error, result, ...plain } = shown(row);
  return {
    ...plain,
    errorCode: error?.code,
    errorMessage: error?.message,
    rpcCode: error?.rpcCode,
    late: String(row.late),
    result: result === null ? undefined : textOfResult(result),
  };
}
