/**
 * Values that a filter names indirectly, read before the page: PostgreSQL plans better with known
 * values.
 */
import type { Queryable } from '../database/database.js';
import type { ResolvedFilter } from '../device-filter.js';

/**
 * Maximum of tool sets or versions that become parameters. With more, the statement joins them
 * itself.
 */
const VALUES_MAX = 1_000;

export interface FilterValues {
  /** Tool sets that contain a tool, by the name of the tool. */
  readonly toolSets: ReadonlyMap<string, readonly string[]>;
  /** Earlier versions that devices have, by version. */
  readonly versionsBefore: ReadonlyMap<string, readonly string[]>;
  /** Processes without a living lease whose devices are still marked online. */
  readonly ghosts: readonly string[];
}

/** Runs up to three small queries, each only if the filter needs it. */
export async function readFilterValues(db: Queryable, filter: ResolvedFilter): Promise<FilterValues> {
  const parts = partsOf(filter);
  const [toolSets, versionsBefore, ghosts] = await Promise.all([
    toolSetsOf(db, distinct(parts.map(({ hasTool }) => hasTool))),
    versionsOf(db, distinct(parts.map(({ firmwareBefore }) => firmwareBefore))),
    parts.some(({ presence }) => presence !== undefined) ? ghostProcesses(db) : [],
  ]);
  return { toolSets, versionsBefore, ghosts };
}

/** The filter and all filters nested in it. */
function partsOf(filter: ResolvedFilter): readonly ResolvedFilter[] {
  const { within, any = [], not } = filter;
  return [filter, ...[within, not, ...any].flatMap((inner) => (inner === undefined ? [] : partsOf(inner)))];
}

function distinct(values: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(values.filter((value) => value !== undefined))];
}

async function toolSetsOf(db: Queryable, tools: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (tools.length === 0) return new Map();
  const rows = await db.query<Found>(
    {
      name: 'sets-of-tools',
      text: `SELECT w.wanted, ARRAY(
               SELECT t.tool_set_hash FROM tool t WHERE t.name = w.wanted LIMIT ${String(VALUES_MAX + 1)}) AS found
             FROM unnest($1::text[]) AS w(wanted)`,
    },
    [tools],
  );
  return fewEnough(rows);
}

/**
 * Skips from one version to the next in the index, so the number of devices per version does not
 * matter.
 */
async function versionsOf(db: Queryable, versions: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  if (versions.length === 0) return new Map();
  const rows = await db.query<Found>(
    {
      name: 'versions-before',
      text: `WITH RECURSIVE known(version, place) AS (
               SELECT min(d.firmware_version), 1 FROM device d
               UNION ALL
               SELECT (SELECT min(d.firmware_version) FROM device d WHERE d.firmware_version > k.version), k.place + 1
               FROM known k WHERE k.version IS NOT NULL AND k.place <= ${String(VALUES_MAX)})
             SELECT w.wanted,
               CASE WHEN (SELECT count(version) FROM known) > ${String(VALUES_MAX)}
                    THEN array_fill(NULL::text, ARRAY[${String(VALUES_MAX + 1)}])
                    ELSE ARRAY(
                      SELECT k.version FROM known k WHERE version_key(k.version) < version_key(w.wanted)) END AS found
             FROM unnest($1::text[]) AS w(wanted)`,
    },
    [versions],
  );
  return fewEnough(rows);
}

interface Found {
  readonly wanted: string;
  readonly found: readonly string[];
}

function fewEnough(rows: readonly Found[]): ReadonlyMap<string, readonly string[]> {
  return new Map(rows.filter(({ found }) => found.length <= VALUES_MAX).map(({ wanted, found }) => [wanted, found]));
}

/** Skips from one process to the next in the index of online devices. */
async function ghostProcesses(db: Queryable): Promise<readonly string[]> {
  const rows = await db.query<{ readonly id: string }>(
    {
      name: 'ghost-processes',
      text: `WITH RECURSIVE holder(id) AS (
               (SELECT d.gateway_id FROM device d WHERE d.online ORDER BY d.gateway_id LIMIT 1)
               UNION ALL
               SELECT (SELECT d.gateway_id FROM device d WHERE d.online AND d.gateway_id > h.id
                       ORDER BY d.gateway_id LIMIT 1)
               FROM holder h WHERE h.id IS NOT NULL)
             SELECT h.id FROM holder h WHERE h.id IS NOT NULL
               AND NOT EXISTS (SELECT FROM hub_process p WHERE p.id = h.id AND p.lease_until > now())`,
    },
    [],
  );
  return rows.map(({ id }) => id);
}
