/** What an operator should know about a PostgreSQL server. Changes nothing. */
import { withClient } from './with-client.js';

export interface DatabaseFacts {
  /** Such as `17.2`. */
  readonly version: string;
  readonly versionNumber: number;
  readonly encoding: string;
  readonly settings: Readonly<Record<CheckedSetting, string>>;
  readonly connections: { readonly used: number; readonly max: number };
  /** The median of some round trips, ms. */
  readonly latencyMs: number;
  /** Clock of the server minus clock of this machine, ms. */
  readonly clockAheadMs: number;
  readonly databaseBytes: number;
}

type CheckedSetting = 'fsync' | 'full_page_writes' | 'synchronous_commit' | 'default_transaction_read_only';

const ROUND_TRIPS = 7;

const FACTS = `SELECT current_setting('server_version') AS version,
    current_setting('server_version_num')::int AS "versionNumber",
    current_setting('server_encoding') AS encoding,
    json_build_object('fsync', current_setting('fsync'), 'full_page_writes', current_setting('full_page_writes'),
      'synchronous_commit', current_setting('synchronous_commit'),
      'default_transaction_read_only', current_setting('default_transaction_read_only')) AS settings,
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
    current_setting('max_connections')::int AS max,
    pg_database_size(current_database())::float8 AS "databaseBytes"`;

type Row = Omit<DatabaseFacts, 'connections' | 'latencyMs' | 'clockAheadMs'> & {
  readonly used: number;
  readonly max: number;
};

/** `now`: the clock of this machine. Throws RegistryError DATABASE_UNAVAILABLE. */
export function checkDatabase(databaseUrl: string, now: () => number): Promise<DatabaseFacts> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Row>(FACTS);
    const [row] = rows;
    if (row === undefined) throw new Error('PostgreSQL answered without a row.');
    const { used, max, ...facts } = row;
    const trips: { readonly tookMs: number; readonly aheadMs: number }[] = [];
    while (trips.length < ROUND_TRIPS) {
      const sentAt = now();
      const answer = await client.query<{ readonly at: number }>(
        'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at',
      );
      const tookMs = now() - sentAt;
      trips.push({ tookMs, aheadMs: (answer.rows[0]?.at ?? sentAt) - (sentAt + tookMs / 2) });
    }
    const byTime = [...trips].sort((one, other) => one.tookMs - other.tookMs);
    const median = byTime[Math.floor(ROUND_TRIPS / 2)];
    return {
      ...facts,
      connections: { used, max },
      latencyMs: median?.tookMs ?? 0,
      clockAheadMs: Math.round(byTime[0]?.aheadMs ?? 0),
    };
  });
}
