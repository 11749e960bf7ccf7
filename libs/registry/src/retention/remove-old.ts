/**
 * Removes old records: events and calls by whole days, jobs with their targets, the beginning of
 * the audit trail, idempotency keys. Each kind is removed separately, so that one that waits for a
 * lock does not delay the others.
 */
import { trimAudit } from '../audit/trim-audit.js';
import type { Database } from '../database/database.js';
import type { OauthStore } from '../grants/oauth-store.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { Registry } from '../registry.js';
import { dropPartitionsBefore, dropTimesBefore } from './drop-partitions.js';
import { removeInBatches } from './remove-in-batches.js';
import { removeJobsBefore } from './remove-jobs.js';
import { removeSeriesBefore } from './remove-series.js';
import { removeSessionsBefore } from './remove-sessions.js';
import { removeToolSetsBefore } from './remove-tool-sets.js';

/** Retention per kind, ms. */
export interface KeptTimes {
  /** Events, calls, webhook deliveries, and alerts from their end. */
  readonly recordsMs: number;
  /** Counted from the end of a job. */
  readonly jobsMs: number;
  readonly auditMs: number;
  /** Single points of measurements, and roll-ups, with restarts, sessions and former tool sets. */
  readonly measurementsMs: number;
  readonly rollupsMs: number;
}

/** Retention of idempotency keys: long enough for clients that retry over a weekend. */
const IDEMPOTENCY_KEYS_KEPT_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;
/** Jobs are verified with sessions of a week, and charts and alerts show those of a month. */
const SESSIONS_KEPT_MS_MIN = 30 * DAY_MS;

/**
 * Resolves to the number of removed partitions, jobs and rows, by kind. Several processes may run
 * it at once. A step that fails is repeated in the next run.
 */
export async function removeOld(
  {
    database,
    webhooks,
    alertEvaluation,
    oauth,
    logger,
  }: Pick<Registry, 'alertEvaluation' | 'webhooks'> & {
    readonly database: Database;
    readonly oauth: OauthStore;
    readonly logger: RegistryLogger;
  },
  kept: KeptTimes,
  now: number,
): Promise<Readonly<Record<string, number>>> {
  const records = now - kept.recordsMs;
  const sessions = now - Math.max(kept.rollupsMs, SESSIONS_KEPT_MS_MIN);
  const steps: Readonly<Record<string, () => Promise<number>>> = {
    events: () => dropPartitionsBefore(database, 'event', records),
    calls: () => dropPartitionsBefore(database, 'call', records),
    deliveries: () => webhooks.removeOld(records),
    alerts: () => alertEvaluation.removeOld(records),
    measurements: () => removeMeasurements(database, now - kept.measurementsMs),
    rollups: () => removeRollups(database, now - kept.rollupsMs),
    sessions: () => removeSessionsBefore(database, sessions),
    toolSets: () => removeToolSetsBefore(database, sessions, now),
    series: () => removeSeriesBefore(database, now - kept.rollupsMs),
    jobs: () => removeJobsBefore(database, now - kept.jobsMs, now),
    oauth: () => oauth.removeExpired(now),
    idempotencyKeys: () => removeKeysBefore(database, now - IDEMPOTENCY_KEYS_KEPT_MS),
    // By whole days, because each run adds an audit entry.
    auditEntries: () => trimAudit(database, Math.floor((now - kept.auditMs) / DAY_MS) * DAY_MS, now),
  };
  const removed: Record<string, number> = {};
  for (const [kind, step] of Object.entries(steps)) {
    try {
      const count = await step();
      if (count > 0) removed[kind] = count;
    } catch (error) {
      logger.warn({ kind, err: error }, 'could not remove old records; trying again in the next run');
    }
  }
  return removed;
}

/** By whole days. */
async function removeMeasurements(database: Database, before: number): Promise<number> {
  const points = await dropTimesBefore(database, 'measurement', before);
  return points + (await dropTimesBefore(database, 'measurement_pack', before));
}

async function removeRollups(database: Database, before: number): Promise<number> {
  const hours = await dropTimesBefore(database, 'measurement_hour', before);
  const days = await removeInBatches(database, 'measurement_day', 'r.at < $1', [new Date(before)]);
  return hours + days + (await removeInBatches(database, 'device_restart', 'r.at < $1', [new Date(before)]));
}

/** Old idempotency keys of calls and jobs can be used again. The jobs stay. */
async function removeKeysBefore(database: Database, before: number): Promise<number> {
  const calls = await removeInBatches(database, 'call_key', 'r.started_at < $1', [new Date(before)]);
  const text =
    'UPDATE job SET idempotency_key = NULL WHERE idempotency_key IS NOT NULL AND created_at < $1 RETURNING 1';
  return calls + (await database.query({ text }, [new Date(before)])).length;
}
