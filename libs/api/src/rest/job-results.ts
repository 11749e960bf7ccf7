/**
 * The results of a job as a file: one line per target, read page by page as fast as the client
 * receives them. Reading ends when the client disconnects.
 */
import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import type { JobId, ToolResult } from '@flotilla/mcp';
import type { JobReads, Principal, TargetRow } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import type { RestRoute } from './rest-routes.js';

type Results = Pick<JobReads, 'find' | 'targets'>;

interface Format {
  readonly contentType: string;
  /** What stands before the first row. */
  readonly head: string;
  readonly write: (rows: readonly TargetRow[]) => string;
}

/** Targets of one page: with the largest results 8 MiB, the most that an export holds in memory. */
const pageRows = 1_000;

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

/** Spreadsheets run cells that begin like formulas, and their text comes from devices. */
const csv = { columns, escape_formulas: true, record_delimiter: '\r\n' } as const;

const formats: Readonly<Record<string, Format>> = {
  jsonl: {
    contentType: 'application/jsonl; charset=utf-8',
    head: '',
    write: (rows) => rows.map((row) => `${JSON.stringify(shown(row))}\n`).join(''),
  },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: stringify([columns], { record_delimiter: csv.record_delimiter }),
    write: (rows) => stringify(rows.map(cells), csv),
  },
};

/** `jobsFor` says what a viewer sees: of a wider job a scoped key has its own targets. */
export function jobResultRoutes(jobsFor: (viewer: Principal) => Results): readonly RestRoute[] {
  return Object.entries(formats).map(([ending, format]) => ({
    ...{ method: 'GET', url: `/api/jobs/:id/results.${ending}`, scope: 'JOBS_READ' },
    handle: async (request, reply, viewer) => {
      const jobs = jobsFor(viewer);
      const { id } = request.params as { readonly id: string };
      const job = await jobs.find(id);
      if (job === undefined) throw new ApiError('NOT_FOUND', `There is no job "${id.slice(0, 100)}".`);
      const lines = Readable.from(linesOf(jobs, job.id, format), { objectMode: false });
      const headers = {
        'content-type': format.contentType,
        'content-disposition': `attachment; filename="job-${job.id}.${ending}"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      };
      return reply.headers(headers).send(lines);
    },
  }));
}

/** By device id. A job that still runs is read as it is while the reading goes on. */
async function* linesOf(jobs: Results, id: JobId, { head, write }: Format): AsyncGenerator<string> {
  if (head !== '') yield head;
  let after: string | undefined;
  for (;;) {
    const [page] = await jobs.targets([id], {}, { first: pageRows, ...(after === undefined ? {} : { after }) });
    if (page !== undefined && page.rows.length > 0) yield write(page.rows);
    if (page?.hasNextPage !== true) return;
    after = page.cursors.at(-1);
  }
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
    result: result === null ? undefined : textOf(result),
  };
}

/** The text of the result; other content is named by its type. */
function textOf({ content }: ToolResult): string {
  return content.map((item) => (typeof item['text'] === 'string' ? item['text'] : `[${item.type}]`)).join('\n');
}
