/**
 * The audit trail as a file: one JSON object per line, in the order of the chain, read page by page
 * as fast as the client receives it.
 */
import type { AuditEntryRow, AuditStore } from '@flotilla/registry';
import { ApiError } from '../errors/api-error.js';
import { boundOf } from './read-times.js';
import type { RestRoute } from './rest-routes.js';
import { sendLines } from './row-files.js';

/** Entries of one page: with the largest data 8 MiB, the most that an export holds in memory. */
const PAGE_ROWS = 1_000;

export function auditExport(audit: Pick<AuditStore, 'page'>): RestRoute {
  return {
    method: 'GET',
    url: '/api/audit.jsonl',
    scope: 'ADMIN',
    handle: async (request, reply) => {
      const { since, until, ...others } = request.query as Readonly<Record<string, unknown>>;
      const [unknown] = Object.keys(others);
      if (unknown !== undefined)
        throw new ApiError(
          'BAD_USER_INPUT',
          `There is no parameter "${unknown}": an export is bounded by "since" and "until".`,
        );
      const bounds = { ...boundOf('since', since), ...boundOf('until', until) };
      const headers = {
        'content-type': 'application/jsonl; charset=utf-8',
        'content-disposition': 'attachment; filename="audit.jsonl"',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      };
      return sendLines(reply.headers(headers), linesOf(audit, bounds));
    },
  };
}

async function* linesOf(
  audit: Pick<AuditStore, 'page'>,
  bounds: { readonly since?: number; readonly until?: number },
): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const page = await audit.page(
      bounds,
      { first: PAGE_ROWS, ...(after === undefined ? {} : { after }) },
      'EARLIEST_FIRST',
    );
    if (page.rows.length > 0) yield page.rows.map((entry) => `${JSON.stringify(shown(entry))}\n`).join('');
    after = page.hasNextPage ? page.cursors.at(-1) : undefined;
  } while (after !== undefined);
}

/** All members that the hash covers, so that the file is enough to check the chain. */
function shown({ sequence, id, at, remoteAddress, ...entry }: AuditEntryRow) {
  return { sequence, id, at: new Date(at).toISOString(), ...entry, remoteAddress: remoteAddress ?? null };
}
