/** Restarts of devices: what explains them, and rates per firmware version. */
import type { HealthEvidence } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { historyScopeOf } from '../access-scope/history-scope.js';
import { BatchWriter } from '../database/batch-writer.js';
import type { Database } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { sql, SqlFile } from '../database/sql-file.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import { IS_ONLINE, listedDeviceCondition } from '../devices/device-condition.js';
import type { EventStore } from '../events/event-store.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type {
  ExplainedFor,
  JudgedRestart,
  JudgedRestarts,
  MovedBoot,
  RestartCause,
  RestartSign,
  ShownBoot,
  VersionFigures,
} from './restart.js';
import { unexpectedRestart } from './restart-event.js';

/** Restarts are judged once the records of the calls before them are written, ms. */
const judgedAfterMs = 20_000;
/** Uptimes are rounded. */
export const sameBootMs = 30_000;
/** Share of its uptime by which a board without a crystal may be slow. */
export const bootDriftMax = 0.01;
/** `millis()` of Arduino has 32 bits: after 49.7 days it counts from 0. */
const COUNTER_MS = 2 ** 32;
/** Starts that one statement moves. */
const MOVED_MAX = 500;
const VERSIONS_MAX = 200;
/** A board without a session counts as reachable so long after a start. */
const REACHABLE = `interval '24 hours'`;

const JUDGE = new SqlFile(new URL('./judge-restarts.sql', import.meta.url), {
  name: 'judge-restarts',
  parameters: { until: sql.timestamp, explainedMs: sql.float, jobMs: sql.float },
  row: {
    device_id: sql.text<DeviceId>(),
    at: sql.timestamp,
    cause: sql.orNull(sql.text<RestartCause>()),
    firmware_version: sql.orNull(sql.text()),
    booted_version: sql.orNull(sql.text()),
    reason: sql.orNull(sql.text()),
    via: sql.text<RestartSign>(),
  },
});
const NOTE_BOOTS = new SqlFile(new URL('./note-boots.sql', import.meta.url), {
  name: 'note-boots',
  parameters: { rows: sql.json, sameSeconds: sql.float, driftMax: sql.float, counterSeconds: sql.float },
  row: {},
});
const MOVE_BOOTS = new SqlFile(new URL('./move-boots.sql', import.meta.url), {
  name: 'move-boots',
  parameters: { rows: sql.json, sameSeconds: sql.float },
  row: {},
});
const READ_HEALTH = new SqlFile(new URL('./read-health.sql', import.meta.url), {
  parameters: { job: sql.uuid(), since: sql.timestamp, until: sql.timestamp, wave: sql.integer },
  row: {
    version: sql.text(),
    restarts: sql.integer,
    baseline_restarts: sql.integer,
    device_hours: sql.float,
    baseline_device_hours: sql.float,
    looping_devices: sql.integer,
  },
});

export class RestartStore {
  readonly #boots: BatchWriter<ShownBoot, undefined>;
  readonly #moves: BatchWriter<MovedBoot, undefined>;

  constructor(
    private readonly database: Database,
    private readonly events: Pick<EventStore, 'insertIn' | 'announce'>,
    logger: RegistryLogger,
  ) {
    this.#boots = new BatchWriter<ShownBoot, undefined>({
      name: 'device_boot',
      keyOf: ({ deviceId }) => deviceId,
      rowsPerWrite: 500,
      depthMax: 20_000,
      gatherMs: 20,
      logger,
      write: async (boots) => {
        const rows = boots.map(({ deviceId: id, bootedAt: at, uptimeMs: uptime, firmwareVersion, reason }) => ({
          id,
          at,
          uptime,
          firmware_version: firmwareVersion,
          reason,
        }));
        await NOTE_BOOTS.run(this.database, {
          rows: toJson(rows),
          sameSeconds: sameBootMs / 1_000,
          driftMax: bootDriftMax,
          counterSeconds: COUNTER_MS / 1_000,
        });
        return boots.map(() => undefined);
      },
    });
    this.#moves = new BatchWriter<MovedBoot, undefined>({
      name: 'moved_boot',
      rowsPerWrite: MOVED_MAX,
      depthMax: MOVED_MAX,
      gatherMs: 0,
      logger,
      write: async (boots) => {
        const rows = boots.map(({ deviceId: id, knownAt, movedTo }) => ({ id, known_at: knownAt, moved_to: movedTo }));
        await MOVE_BOOTS.run(this.database, { rows: toJson(rows), sameSeconds: sameBootMs / 1_000 });
        return boots.map(() => undefined);
      },
    });
  }

  /** Records what an uptime shows: a restart, or that only the link was lost. */
  noteBoot(boot: ShownBoot): Promise<void> {
    return this.#boots.add(boot);
  }

  /**
   * Moves noted starts, so that they stay comparable after the clock was set. Waits for a server
   * that is away, as it often is when the clock is set. One at a time.
   */
  async moveBoots(boots: readonly MovedBoot[]): Promise<void> {
    await this.#boots.written();
    for (let from = 0; from < boots.length; from += MOVED_MAX)
      await Promise.all(boots.slice(from, from + MOVED_MAX).map((boot) => this.#moves.add(boot)));
  }

  /** Records a restart that the device itself reported. */
  async noteRestart({ deviceId, bootedAt, reason }: Omit<ShownBoot, 'firmwareVersion' | 'uptimeMs'>): Promise<void> {
    const text = `
      WITH known AS (SELECT d.id, d.firmware_version, coalesce(d.booted_at, d.created_at) AS former_at
        FROM device d WHERE d.id = $1 FOR UPDATE), noted AS (
      INSERT INTO device_restart (device_id, at, former_at, firmware_version, booted_version, reason, via)
      SELECT id, $2, former_at, firmware_version, firmware_version, $3, 'NOTIFICATION' FROM known
      WHERE former_at < $2::timestamptz - interval '5 seconds' ON CONFLICT DO NOTHING RETURNING device_id)
      UPDATE device d SET booted_at = $2 FROM noted n WHERE d.id = n.device_id`;
    const values = [storableText(deviceId), new Date(bootedAt), reason ?? null];
    await this.database.query({ name: 'note-restart', text }, values);
  }

  /**
   * Judges restarts that are old enough, at most 500. Each is returned once, by one process. The
   * events of unexpected ones commit together with it.
   */
  async judge(now: number, { rebootMs, firmwareMs }: ExplainedFor): Promise<JudgedRestarts> {
    const until = new Date(now - judgedAfterMs);
    const { restarts, inserted } = await this.database.transaction(async (transaction) => {
      const rows = await JUDGE.run(transaction, { until, explainedMs: rebootMs, jobMs: firmwareMs });
      const judged = rows.map((row): JudgedRestart => ({
        deviceId: row.device_id,
        at: row.at.getTime(),
        cause: row.cause ?? 'UNEXPECTED',
        via: row.via,
        firmwareVersion: row.firmware_version ?? undefined,
        bootedVersion: row.booted_version ?? undefined,
        reason: row.reason ?? undefined,
      }));
      const unexpected = judged.filter(({ cause }) => cause === 'UNEXPECTED').map(unexpectedRestart);
      return { restarts: judged, inserted: await this.events.insertIn(transaction, unexpected) };
    });
    this.events.announce(inserted);
    return { restarts, events: inserted.rows };
  }

  /** Unexpected restarts of each device, in the order of the input. `starts` bounds their times. */
  async countsOf(
    deviceIds: readonly string[],
    since: number,
    starts: readonly number[] = deviceIds.map(() => since),
  ): Promise<readonly number[]> {
    const rows = await this.database.query<{ id: string; restarts: number }>(
      {
        name: 'restarts-of-devices',
        text: `SELECT w.id, count(r.at)::int AS restarts FROM unnest($1::text[], $2::timestamptz[]) AS w(id, since)
               JOIN device_restart r ON r.device_id = w.id AND r.cause = 'UNEXPECTED' AND r.at >= w.since
               GROUP BY w.id`,
      },
      [deviceIds, starts.map((start) => new Date(Math.max(start, since)))],
    );
    const counts = new Map(rows.map(({ id, restarts }) => [id, restarts]));
    return deviceIds.map((id) => counts.get(id) ?? 0);
  }

  /** Figures of each version in a period, by number of devices, within an access scope. */
  async versionFigures(
    filter: DeviceFilter | undefined,
    { since, until }: { readonly since: number; readonly until: number },
    within?: DeviceFilter,
  ): Promise<readonly VersionFigures[]> {
    const parameters: unknown[] = [new Date(since), new Date(until)];
    const condition = listedDeviceCondition(filter && (await resolveFilter(this.database, filter)), parameters);
    const isVisible = await historyScopeOf(this.database, within);
    const rows = await this.database.query<FiguresRow>(
      {
        text: `WITH fleet AS MATERIALIZED (
            SELECT d.id, d.firmware_version AS version, d.reachability, ${IS_ONLINE} AS is_online
            FROM device d WHERE ${condition}
          ), served AS (
            SELECT s.firmware_version AS version, greatest($1, s.connected_at) AS since,
              least($2, coalesce(s.disconnected_at, $2)) AS until
            FROM session s JOIN fleet f ON f.id = s.device_id
            WHERE f.reachability = 'ALWAYS' AND s.connected_at < $2 AND coalesce(s.disconnected_at, 'infinity') > $1
              AND s.firmware_version IS NOT NULL AND ${isVisible('s.device_id', { at: 's.connected_at' }, parameters)}
            UNION ALL
            SELECT r.firmware_version, greatest($1, r.former_at), least($2, r.at, r.former_at + ${REACHABLE})
            FROM device_restart r JOIN fleet f ON f.id = r.device_id
            WHERE f.reachability = 'IN_CONVERSATION' AND r.firmware_version IS NOT NULL AND r.at > $1
              AND r.former_at < $2 AND ${isVisible('r.device_id', { at: 'r.former_at' }, parameters)}
            UNION ALL
            SELECT b.booted_version, greatest($1, b.booted_at), least($2, b.booted_at + ${REACHABLE})
            FROM device b JOIN fleet f ON f.id = b.id
            WHERE f.reachability = 'IN_CONVERSATION' AND b.booted_version IS NOT NULL AND b.booted_at < $2
              AND ${isVisible('b.id', { at: 'b.booted_at' }, parameters)}
          ), hours AS (
            SELECT version, sum(extract(epoch FROM until - since))::float8 / 3600 AS hours, min(since) AS first_at
            FROM served WHERE until > since GROUP BY version
          ), restarts AS (
            SELECT r.firmware_version AS version, count(*)::int AS restarts
            FROM device_restart r JOIN fleet f ON f.id = r.device_id
            WHERE r.cause = 'UNEXPECTED' AND r.at >= $1 AND r.at < $2 AND r.firmware_version IS NOT NULL
              AND ${isVisible('r.device_id', { at: 'r.at' }, parameters)}
            GROUP BY 1
          ), now AS (
            SELECT version, count(*)::int AS devices, count(*) FILTER (WHERE NOT is_online)::int AS offline
            FROM fleet WHERE version IS NOT NULL GROUP BY version
          )
          SELECT version, coalesce(n.devices, 0) AS devices, coalesce(n.offline, 0) AS offline,
            coalesce(h.hours, 0) AS hours, coalesce(r.restarts, 0) AS restarts, h.first_at
          FROM now n FULL JOIN hours h USING (version) FULL JOIN restarts r USING (version)
          ORDER BY devices DESC, hours DESC, version LIMIT ${bind(parameters, VERSIONS_MAX)}`,
      },
      parameters,
    );
    return rows.map(({ version, devices, offline, hours, restarts, first_at: first }) => ({
      version,
      deviceCount: devices,
      offlineCount: offline,
      deviceHours: hours,
      unexpectedRestarts: restarts,
      firstSeenAt: first?.getTime(),
    }));
  }

  /** The counts of a health gate since a time; undefined where the image was deleted. */
  async health(
    { id: job, since, wave }: { readonly id: JobId; readonly since: number; readonly wave: number },
    now: number,
  ): Promise<HealthEvidence | undefined> {
    const period = { since: new Date(since), until: new Date(now) };
    const [row] = await READ_HEALTH.run(this.database, { job, ...period, wave });
    return (
      row && {
        version: row.version,
        restarts: row.restarts,
        deviceHours: row.device_hours,
        baselineRestarts: row.baseline_restarts,
        baselineDeviceHours: row.baseline_device_hours,
        loopingDevices: row.looping_devices,
      }
    );
  }

  status(): WriterStatus {
    return this.#boots.status();
  }

  async close(): Promise<void> {
    await Promise.all([this.#boots.close(), this.#moves.close()]);
  }
}

interface FiguresRow {
  readonly [column: string]: unknown;
  readonly version: string;
  readonly devices: number;
  readonly offline: number;
  readonly hours: number;
  readonly restarts: number;
  readonly first_at: Date | null;
}
