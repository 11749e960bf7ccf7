/** Pages of the registry as Relay connections, and `first` and `after` as page requests. */
import type { Job } from '@flotilla/jobs';
import type { DeviceFilter, DeviceRow, JobFilter, Page, PageRequest } from '@flotilla/registry';
import { ApiError } from './errors/api-error.js';
import { pageRowsMax } from './limits/api-limits.js';

export interface Connection<Row> {
  readonly edges: readonly { readonly cursor: string; readonly node: Row }[];
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | undefined };
}

/** A page of devices that can still be asked how many there are in all. */
export interface DeviceConnectionSource extends Connection<DeviceRow> {
  readonly filter: DeviceFilter | undefined;
}

/** A page of jobs, likewise. */
export interface JobConnectionSource extends Connection<Job> {
  readonly filter: JobFilter;
}

export function toConnection<Row>(page: Page<Row>): Connection<Row> {
  return {
    get edges() {
      return page.rows.map((node, index) => ({ cursor: page.cursors[index] ?? '', node }));
    },
    nodes: page.rows,
    pageInfo: { hasNextPage: page.hasNextPage, endCursor: page.cursors.at(-1) },
  };
}

/** `first`, or the default of the schema for null. Throws BAD_USER_INPUT outside 1..`rowsMax`. */
export function pageSize(first: number | null | undefined, fallback: number, rowsMax = pageRowsMax): number {
  const size = first ?? fallback;
  if (size < 1 || size > rowsMax)
    throw new ApiError('BAD_USER_INPUT', `"first" must be between 1 and ${rowsMax}, but is ${size}.`);
  return size;
}

export function pageRequest(args: {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}): PageRequest {
  const first = pageSize(args.first, 50);
  return args.after === undefined || args.after === null ? { first } : { first, after: args.after };
}
