/**
 * The figures of the overview: device counts, devices online over time, outcomes of calls. Each is
 * one bounded statement.
 */
import type { TargetOutcome } from '@flotilla/jobs';
import { LRUCache } from 'lru-cache';
import type { Database } from '../database/database.js';
import { sql, SqlFile, type RowOf } from '../database/sql-file.js';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf, timeOfUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import { scopeOf } from '../access-scope/history-scope.js';
import { listedDeviceCondition } from './device-condition.js';
import { RenewedCounts } from './renewed-counts.js';

/** Devices with the same value; undefined for devices that did not report one. */
interface FleetShare {
  readonly value: string | undefined;
  readonly deviceCount: number;
  readonly onlineCount: number;
}

export interface FleetCounts {
  readonly deviceCount: number;
  readonly onlineCount: number;
  readonly toolsStaleCount: number;
  /** Devices that never had a session. */
  readonly neverConnectedCount: number;
  /** Most devices first. */
  readonly models: readonly FleetShare[];
  readonly firmwareVersions: readonly FleetShare[];
}

/** Number of devices with a session at a moment, ms since the Unix epoch. */
export interface OnlinePoint {
  readonly at: number;
  readonly onlineCount: number;
}

/** Single calls can also end as NOT_SENT. */
type Outcome = TargetOutcome | 'NOT_SENT';

export interface CallCounts {
  readonly outcomes: readonly { readonly outcome: Outcome; readonly count: number }[];
  /**
   * All calls since this time are counted. Later than requested if there are too many calls to
   * count.
   */
  readonly since: number;
}

/** A process of the hub. */
interface HubProcessRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** Ms since the Unix epoch. */
  readonly startedAt: number;
  readonly isAlive: boolean;
  readonly onlineCount: number;
  readonly roles: readonly string[];
  /** Version of the program; empty if unknown. */
  readonly version: string;
}

const NEVER = `'infinity'::timestamptz`;
/** Maximum of models and of versions that are counted; the others have few devices each. */
const SHARES_MAX = 100;
/** Maximum of latest calls that are counted, per kind. A busy fleet makes that many in minutes. */
const CALLS_COUNTED_MAX = 100_000;
/** Counts of more devices are used again for up to five seconds: a million takes 0.4 s. */
const EXACT_DEVICES_MAX = 20_000;
/** Filters that are known to match more. */
const LARGE_FILTERS_MAX = 500;
/** Maximum of processes that are listed. */
const PROCESSES_MAX = 100;

const { bigint, integer, named, orNull, text } = sql;

const COUNT_FLEET = new SqlFile(new URL('./count-fleet.sql', import.meta.url), {
  parameters: { sharesMax: bigint },
  row: {
    kind: text<'all' | 'model' | 'firmware'>(),
    value: orNull(text()),
    devices: integer,
    online: integer,
    stale: integer,
    never: integer,
    place: named<string>('bigint'),
  },
});

export class FleetFiguresStore {
  readonly #database: Database;
  readonly #large = new LRUCache<string, true>({ max: LARGE_FILTERS_MAX });
  readonly #renewed: RenewedCounts<FleetCounts>;

  /** `now` returns monotonic milliseconds. */
  constructor(database: Database, now: () => number = () => performance.now()) {
    this.#database = database;
    this.#renewed = new RenewedCounts(now);
  }

  /** Up to five seconds old if the filter matches more than 20,000 devices. */
  async counts(filter: DeviceFilter | undefined): Promise<FleetCounts> {
    const key = JSON.stringify(filter ?? null);
    const count = () => this.#count(filter);
    const counts = await (this.#large.has(key) ? this.#renewed.of(key, count) : count());
    if (counts.deviceCount > EXACT_DEVICES_MAX) this.#large.set(key, true);
    else this.#large.delete(key);
    return counts;
  }

  async #count(filter: DeviceFilter | undefined): Promise<FleetCounts> {
    const resolved = filter && (await resolveFilter(this.#database, filter));
    const records = await COUNT_FLEET.runWhere(this.#database, { sharesMax: SHARES_MAX }, (parameters) =>
      listedDeviceCondition(resolved, parameters),
    );
    const all = records.find(({ kind }) => kind === 'all');
    const sharesOf = (wanted: RowOf<typeof COUNT_FLEET>['kind']): readonly FleetShare[] =>
      records
        .filter(({ kind }) => kind === wanted)
        .map(({ value, devices, online }) => ({
          value: value ?? undefined,
          deviceCount: devices,
          onlineCount: online,
        }));
    return {
      deviceCount: all?.devices ?? 0,
      onlineCount: all?.online ?? 0,
      toolsStaleCount: all?.stale ?? 0,
      neverConnectedCount: all?.never ?? 0,
      models: sharesOf('model'),
      firmwareVersions: sharesOf('firmware'),
    };
  }

  /**
   * Counts online devices at `points` moments of equal distance, the last of them `until`. `within`
   * is the access scope; history from before a device came into it is not counted.
   */
  async onlineHistory(
    filter: DeviceFilter | undefined,
    { since, until, points }: { readonly since: number; readonly until: number; readonly points: number },
    within?: DeviceFilter,
  ): Promise<readonly OnlinePoint[]> {
    const parameters: unknown[] = [];
    const step = (until - since) / Math.max(1, points - 1);
    const [from, every, last] = [bind(parameters, since), bind(parameters, step), bind(parameters, points - 1)];
    /** The first point at or after a moment. */
    const pointOf = (moment: string) =>
      `greatest(0, ceil((extract(epoch FROM ${moment}) * 1000 - ${from}::float8) / ${every}::float8))::int`;
    const condition = await this.#condition(filter, parameters);
    const start = await this.#start(within, parameters);
    const isShown =
      start === undefined ? '' : `AND coalesce(s.disconnected_at, 'infinity') > ${start} AND ${start} < 'infinity'`;
    const device = filter === undefined ? '' : `JOIN device d ON d.id = s.device_id AND ${condition} ${isShown}`;
    const began = start === undefined ? 's.connected_at' : `greatest(s.connected_at, ${start}) AS connected_at`;
    // Reads open sessions and those that ended in the window, by index. Each changes the count at
    // most twice.
    const records = await this.#database.query<{ readonly point: number; readonly change: number }>(
      {
        text: `
          WITH seen AS (
            SELECT ${began}, s.disconnected_at FROM session s ${device} WHERE s.disconnected_at IS NULL
            UNION ALL
            SELECT ${began}, s.disconnected_at FROM session s ${device}
             WHERE s.disconnected_at > to_timestamp(${from}::float8 / 1000)
          )
          SELECT point, sum(change)::int AS change FROM (
            SELECT ${pointOf('connected_at')} AS point, 1 AS change FROM seen
            UNION ALL
            SELECT ${pointOf('disconnected_at')} AS point, -1 AS change FROM seen WHERE disconnected_at IS NOT NULL
          ) AS changes WHERE point <= ${last}::int GROUP BY point`,
      },
      parameters,
    );
    const changes = new Map(records.map(({ point, change }) => [point, change]));
    let online = 0;
    return Array.from({ length: points }, (_, point) => {
      online += changes.get(point) ?? 0;
      return { at: Math.round(since + point * step), onlineCount: online };
    });
  }

  /** Counts calls by outcome; `within` as in `onlineHistory`. */
  async callCounts(filter: DeviceFilter | undefined, since: number, within?: DeviceFilter): Promise<CallCounts> {
    const parameters: unknown[] = [];
    const [lowest, limit] = [bind(parameters, lowestUuidOf(since)), bind(parameters, CALLS_COUNTED_MAX)];
    const condition = await this.#condition(filter, parameters);
    const start = await this.#start(within, parameters);
    const isShown = (record: string) =>
      (start === NEVER ? 'AND FALSE' : start && `AND ${record} >= uuid_from(${start})`) ?? '';
    const deviceOf = (id: string, record: string) =>
      filter === undefined
        ? ''
        : `AND EXISTS (SELECT FROM device d WHERE d.id = ${id} AND ${condition} ${isShown(record)})`;
    const records = await this.#database.query<{
      readonly outcome: Outcome | null;
      readonly count: number;
      readonly bound: string;
    }>(
      {
        text: `
          WITH single AS MATERIALIZED (
            SELECT c.id, c.outcome FROM call c
             WHERE c.id >= ${lowest}::uuid ${deviceOf('c.device_id', 'c.id')} ORDER BY c.id DESC LIMIT ${limit}
          ), bulk AS MATERIALIZED (
            SELECT t.listed_call_id AS id, t.outcome FROM job_target t
             WHERE t.listed_call_id >= ${lowest}::uuid ${deviceOf('t.device_id', 't.job_id')}
             ORDER BY t.listed_call_id DESC LIMIT ${limit}
          ), bounds AS (
            SELECT ${lowest}::text AS id
            UNION ALL SELECT min(id::text) FROM single HAVING count(*) >= ${limit}
            UNION ALL SELECT min(id::text) FROM bulk HAVING count(*) >= ${limit}
          ), bound AS (SELECT max(id) AS id FROM bounds)
          SELECT calls.outcome, count(calls.id)::int AS count, bound.id AS bound
            FROM bound LEFT JOIN (SELECT * FROM single UNION ALL SELECT * FROM bulk) AS calls
              ON calls.id >= bound.id::uuid
           GROUP BY calls.outcome, bound.id ORDER BY count DESC`,
      },
      parameters,
    );
    return {
      outcomes: records.flatMap(({ outcome, count }) => (outcome === null ? [] : [{ outcome, count }])),
      since: timeOfUuid(records[0]?.bound ?? lowestUuidOf(since)),
    };
  }

  /** Oldest first. */
  async processes(): Promise<readonly HubProcessRow[]> {
    const records = await this.#database.query<Omit<HubProcessRow, 'startedAt'> & { readonly startedAt: Date }>(
      {
        name: 'hub-processes',
        text: `
          SELECT p.id, p.host, p.pid, p.started_at AS "startedAt", p.lease_until > now() AS "isAlive", p.roles,
                 p.version,
                 CASE WHEN p.lease_until > now()
                   THEN (SELECT count(*)::int FROM device d WHERE d.gateway_id = p.id AND d.online)
                   ELSE 0 END AS "onlineCount"
            FROM hub_process p ORDER BY p.started_at LIMIT $1`,
      },
      [PROCESSES_MAX],
    );
    return records.map((record) => ({ ...record, startedAt: record.startedAt.getTime() }));
  }

  /**
   * Start of the visible history of `device d`: `infinity` if no history is visible, undefined
   * without an access scope.
   */
  async #start(within: DeviceFilter | undefined, parameters: unknown[]): Promise<string | undefined> {
    return within && ((await scopeOf(this.#database, within)).since(parameters) ?? NEVER);
  }

  async #condition(filter: DeviceFilter | undefined, parameters: unknown[]): Promise<string> {
    return listedDeviceCondition(filter && (await resolveFilter(this.#database, filter)), parameters);
  }
}
