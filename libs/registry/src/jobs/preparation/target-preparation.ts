/**
 * Creates the targets of a job inside PostgreSQL, chunk by chunk in the order of device ids, and
 * opens its waves.
 */
import type { PlannedWave } from '@flotilla/jobs';
import type { CallError, JobId, ToolSetHash } from '@flotilla/mcp';
import type { Database, Queryable } from '../../database/database.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import { bind } from '../../database/sql-parameters.js';
import type { DeviceFilter, ResolvedFilter } from '../../device-filter.js';
import { deviceCondition } from '../../devices/device-condition.js';
import { resolveFilter } from '../../groups/resolve-filter.js';
import { dropApprovalTargets, isApproved } from '../commands/approval-targets.js';
import type { JobFence } from '../job-fence.js';
import { rebuildCounters } from './rebuild-counters.js';
import { PREPARE_CHUNK } from './prepare-chunk.js';

/** Whether devices with this tool set can receive the call. Computed once for all of them. */
export interface ToolSetEligibility {
  readonly toolSetHash: ToolSetHash;
  /** Undefined if the call can be sent. */
  readonly rejection: CallError | undefined;
}

/**
 * Number of devices with the same tools; `toolSetHash` is undefined if their tools are not known
 * yet.
 */
export interface ToolSetCount {
  readonly toolSetHash: ToolSetHash | undefined;
  readonly devices: number;
  readonly online: number;
}

const { bigint, integer, timestamp, uuid } = sql;

const OPEN_TARGETS = new SqlFile(new URL('./open-targets.sql', import.meta.url), {
  parameters: { jobId: uuid<JobId>(), fence: integer, limit: bigint, at: timestamp },
  row: { count: integer },
});

export class TargetPreparation {
  constructor(private readonly db: Database) {}

  /** Counts the devices that the filter matches now, by tool set. */
  async countByToolSet(devices: DeviceFilter): Promise<readonly ToolSetCount[]> {
    const parameters: unknown[] = [];
    const condition = deviceCondition(await resolveFilter(this.db, devices), parameters);
    const rows = await this.db.query<{ hash: ToolSetHash | null; devices: number; online: number }>(
      {
        text: `SELECT d.tool_set_hash AS hash, count(*)::int AS devices,
            (count(*) FILTER (WHERE d.online AND g.lease_until > now()))::int AS online
          FROM device d LEFT JOIN hub_process g ON g.id = d.gateway_id WHERE ${condition} GROUP BY d.tool_set_hash`,
      },
      parameters,
    );
    return rows.map((row) => ({ toolSetHash: row.hash ?? undefined, devices: row.devices, online: row.online }));
  }

  /** Counts the devices that the filter matches now, up to `max`. */
  async countDevices(devices: DeviceFilter, max: number): Promise<number> {
    const parameters: unknown[] = [max];
    const condition = deviceCondition(await resolveFilter(this.db, devices), parameters);
    const [row] = await this.db.query<{ count: number }>(
      { text: `SELECT count(*)::int AS count FROM (SELECT FROM device d WHERE ${condition} LIMIT $1) AS counted` },
      parameters,
    );
    return row?.count ?? 0;
  }

  /** The tool sets of the devices that the filter of the job matches now. */
  async toolSetsOf({ jobId, fence }: JobFence): Promise<readonly ToolSetHash[]> {
    const wanted = await wantedDevices(this.db, { jobId, fence });
    if (!wanted) return [];
    const parameters: unknown[] = [];
    const condition = conditionOf(wanted, jobId, parameters);
    const text = `SELECT DISTINCT d.tool_set_hash AS hash FROM device d
      WHERE d.tool_set_hash IS NOT NULL AND ${condition}`;
    const rows = await this.db.query<{ hash: ToolSetHash }>({ text }, parameters);
    return rows.map((row) => row.hash);
  }

  /**
   * Creates up to `limit` further targets and resolves to their number, or to undefined if the job
   * has another owner or is not PREPARING. Can be repeated after a crash.
   */
  async prepareChunk(
    { jobId, fence }: JobFence,
    toolSets: readonly ToolSetEligibility[],
    limit: number,
    at: number,
  ): Promise<number | undefined> {
    const wanted = await wantedDevices(this.db, { jobId, fence });
    if (!wanted) return undefined;
    const rejected = toolSets.flatMap(({ toolSetHash, rejection }) => (rejection ? { toolSetHash, ...rejection } : []));
    const values = {
      jobId,
      fence,
      limit,
      at: new Date(at),
      hashes: rejected.map(({ toolSetHash }) => toolSetHash),
      codes: rejected.map(({ code }) => code),
      messages: rejected.map(({ message }) => message),
    };
    const [row] = await PREPARE_CHUNK.runWhere(this.db, values, (parameters) => conditionOf(wanted, jobId, parameters));
    return row?.is_preparing === true ? row.count : undefined;
  }

  /** The number of targets created so far that did not end at preparation. */
  async countSendable({ jobId, fence }: JobFence): Promise<number> {
    const [row] = await this.db.query<{ count: number }>(
      {
        text: `SELECT count(t.job_id)::int AS count FROM job j LEFT JOIN job_target t ON t.job_id = j.id AND t.wave > 0
               WHERE j.id = $1 AND j.fence = $2`,
      },
      [jobId, fence],
    );
    return row?.count ?? 0;
  }

  /**
   * Fixes the total of the job, assigns targets to waves unless they ended at preparation, and
   * resolves to the total; 0 if another owner has the job or it is not PREPARING. Can be repeated.
   */
  freeze({ jobId, fence }: JobFence, waves: readonly PlannedWave[]): Promise<number> {
    return this.db.transaction(async (transaction) => {
      const [row] = await transaction.query<{ total: number }>(
        {
          text: `UPDATE job SET total = (SELECT count(*) FROM job_target WHERE job_id = $1)
                 WHERE id = $1 AND fence = $2 AND state = 'PREPARING' RETURNING total`,
        },
        [jobId, fence],
      );
      const total = row?.total ?? 0;
      if (row !== undefined) await dropApprovalTargets(transaction, jobId);
      if (total > 0 && waves.length > 0) {
        await insertWaves(transaction, jobId, waves);
        await assignWaves(transaction, jobId, waves);
        await rebuildCounters(transaction, jobId);
      }
      return total;
    });
  }

  /**
   * Closes the open wave `from` (0: none) and opens the next. False if another owner or an operator
   * was faster.
   */
  async openWave({ jobId, fence }: JobFence, from: number, at: number): Promise<boolean> {
    const rows = await this.db.query<{ id: string }>(
      {
        text: `WITH moved AS (
            UPDATE job SET current_wave = $3 + 1
            WHERE id = $1 AND fence = $2 AND state = 'RUNNING' AND current_wave = greatest($3, 1) RETURNING id
          ), closed AS (
            UPDATE job_wave SET closed_at = $4 FROM moved WHERE job_id = $1 AND number = $3
          ), opened AS (
            UPDATE job_wave SET opened_at = $4 FROM moved
            WHERE job_id = $1 AND number = $3 + 1 AND opened_at IS NULL
          )
          SELECT id FROM moved`,
      },
      [jobId, fence, from, new Date(at)],
    );
    return rows.length > 0;
  }

  /**
   * Makes up to `limit` PENDING targets of opened waves READY, or applies the offline policy.
   * Resolves to how many moved.
   */
  async openTargets(fence: JobFence, limit: number, at: number): Promise<number> {
    const [row] = await OPEN_TARGETS.run(this.db, { ...fence, limit, at: new Date(at) });
    return row?.count ?? 0;
  }

  /** When the latest target of the wave, or of all waves, was decided, ms since the Unix epoch. */
  async lastDecidedAt({ jobId }: Pick<JobFence, 'jobId'>, wave: number | undefined): Promise<number | undefined> {
    const [row] = await this.db.query<{ at: Date | null }>(
      {
        text: `SELECT max(decided_at) AS at FROM job_target
               WHERE job_id = $1 AND state = 'DECIDED' AND wave = coalesce($2, wave) AND wave > 0`,
      },
      [jobId, wave ?? null],
    );
    return row?.at?.getTime();
  }
}

interface WantedDevices {
  readonly devices: ResolvedFilter;
  /** Whether the devices must be among those fixed for the approval. */
  readonly needs_approval: boolean;
}

async function wantedDevices(db: Queryable, { jobId, fence }: JobFence): Promise<WantedDevices | undefined> {
  const [wanted] = await db.query<WantedDevices>(
    { text: 'SELECT devices, approval_targets IS NOT NULL AS needs_approval FROM job WHERE id = $1 AND fence = $2' },
    [jobId, fence],
  );
  return wanted;
}

function conditionOf(
  { devices, needs_approval: needsApproval }: WantedDevices,
  jobId: string,
  parameters: unknown[],
): string {
  const condition = deviceCondition(devices, parameters);
  return needsApproval ? `(${condition} AND ${isApproved(bind(parameters, jobId))})` : condition;
}

async function insertWaves(db: Queryable, jobId: string, waves: readonly PlannedWave[]): Promise<void> {
  await db.query({ text: 'DELETE FROM job_wave WHERE job_id = $1' }, [jobId]);
  await db.query(
    {
      text: `INSERT INTO job_wave (job_id, number, size, gate, success_threshold, soak_seconds)
       SELECT $1, w.* FROM unnest($2::int[], $3::int[], $4::wave_gate[], $5::float8[], $6::int[]) AS w`,
    },
    [
      jobId,
      waves.map(({ number }) => number),
      waves.map(({ size }) => size),
      waves.map(({ gate }) => gate),
      waves.map(({ successThreshold }) => successThreshold),
      waves.map(({ soakSeconds }) => soakSeconds),
    ],
  );
}

/**
 * Assigns waves in the order of sending, but takes models and versions in turn, so that the first
 * wave has all kinds of devices.
 */
async function assignWaves(db: Queryable, jobId: string, waves: readonly PlannedWave[]): Promise<void> {
  const firstPlaces = waves.map(
    ({ number }) => 1 + waves.slice(0, number - 1).reduce((sum, { size }) => sum + size, 0),
  );
  await db.query(
    {
      text: `UPDATE job_target t SET wave = placed.wave FROM (
         SELECT place_of, width_bucket(row_number() OVER (ORDER BY turn, ordinal), $2::bigint[]) AS wave FROM (
           SELECT t.ctid AS place_of, t.ordinal,
             row_number() OVER (PARTITION BY d.model, d.firmware_version ORDER BY t.ordinal) AS turn
           FROM job_target t LEFT JOIN device d ON d.id = t.device_id
           WHERE t.job_id = $1 AND t.wave > 0) AS turns) AS placed
       WHERE t.job_id = $1 AND t.ctid = placed.place_of AND t.wave <> placed.wave`,
    },
    [jobId, firstPlaces],
  );
}
