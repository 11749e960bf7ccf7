/** Settings of GraphQL: allowed documents, introspection, and the cost per second. */
import { readFile } from 'node:fs/promises';
import { defaultApiLimits, type ApiLimits, type QueryRules } from '@flotilla/api';
import { z } from 'zod';
import { choice, numberIn, optionalText } from './setting-kinds.js';

/** More would be no limit. */
const POINTS_MAX = 1_000_000_000;

export const querySettings = {
  FLOTILLA_INTROSPECTION: choice(['on', 'off'], 'on'),
  FLOTILLA_QUERIES: choice(['any', 'listed'], 'any'),
  FLOTILLA_QUERIES_FILE: optionalText,
  FLOTILLA_BUDGET_POINTS: numberIn(
    { fallback: defaultApiLimits.costPerSecondMax, min: defaultApiLimits.queryCostMax, max: POINTS_MAX },
    `must be a number of points from ${defaultApiLimits.queryCostMax}, the limit of one operation, to ${POINTS_MAX}`,
  ),
};

export interface QueryConfig {
  readonly introspection: boolean;
  /** File of the documents that keys may run; undefined: any document. */
  readonly listedFile: string | undefined;
  readonly limits: Pick<ApiLimits, 'costPerSecondMax'>;
}

type Values = z.infer<z.ZodObject<typeof querySettings>>;

export function queryConfigOf(values: Values): QueryConfig {
  return {
    introspection: values.FLOTILLA_INTROSPECTION === 'on',
    listedFile: values.FLOTILLA_QUERIES_FILE,
    limits: { costPerSecondMax: values.FLOTILLA_BUDGET_POINTS },
  };
}

export function queryContradictions({ FLOTILLA_QUERIES: queries, FLOTILLA_QUERIES_FILE: file }: Values): string[] {
  return (queries === 'listed') === (file !== undefined)
    ? []
    : ['FLOTILLA_QUERIES=listed and FLOTILLA_QUERIES_FILE belong together. Set both or none.'];
}

class ListedQueriesError extends Error {
  readonly code = 'QUERIES_FILE_INVALID';

  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`FLOTILLA_QUERIES_FILE (${file}) ${problem}`, options);
    this.name = 'ListedQueriesError';
  }
}

/** Reads the file of listed queries. Throws ListedQueriesError. */
export async function readQueryRules({ introspection, listedFile }: QueryConfig): Promise<QueryRules> {
  if (listedFile === undefined) return { introspection };
  const text = await readFile(listedFile, 'utf8').catch((error: unknown) => {
    throw new ListedQueriesError(listedFile, 'cannot be read', { cause: error });
  });
  return { introspection, listed: parseListedQueries(listedFile, text) };
}

/**
 * Parses an array of documents, or an object of ids and documents as code generators write it. The
 * hub computes the hashes itself.
 */
export function parseListedQueries(file: string, text: string): readonly string[] {
  const shape = z.union([z.array(z.string()), z.record(z.string(), z.string())]);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ListedQueriesError(file, 'is not JSON', { cause: error });
  }
  const queries = shape.safeParse(value);
  if (!queries.success)
    throw new ListedQueriesError(file, 'must be a JSON array of queries, or an object that has them under their ids');
  return Object.values(queries.data);
}
