/**
 * What is kept for a time only, and how it goes: events and calls by whole days, jobs with all that is theirs, the beginning of the audit trail, idempotency
 * keys. Each kind by itself, so that one that has to wait for a lock keeps no other.
 */
import { trimAudit } from '../audit/trim-audit.js';
import type { Database } from '../database/database.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WebhookStore } from '../webhooks/webhook-store.js';
import { dropPartitionsBefore } from './drop-partitions.js';
import { removeJobsBefore } from './remove-jobs.js';
import { removeKeysBefore } from './remove-keys.js';

/** How long each kind is kept, ms. */
export interface KeptTimes {
  /** Events, calls, attempts to deliver events. */
  readonly recordsMs: number;
  /** From the end of a job. */
  readonly jobsMs: number;
  readonly auditMs: number;
}

/** An idempotency key that is older names no request any more. Long enough for whoever retries over a weekend. */
export const IDEMPOTENCY_KEYS_KEPT_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;

/** What was removed: partitions, jobs and rows, by kind. May be called at any time and in several processes; what could not be done is done the next time. */
export async function removeOld(
  {
    database,
    webhooks,
    logger,
  }: { readonly database: Database; readonly webhooks: WebhookStore; readonly logger: RegistryLogger },
  kept: KeptTimes,
  now: number,
): Promise<Readonly<Record<string, number>>> {
  const records = now - kept.recordsMs;
  const steps: Readonly<Record<string, () => Promise<number>>> = {
    events: () => dropPartitionsBefore(database, 'event', records),
    calls: () => dropPartitionsBefore(database, 'call', records),
    deliveries: () => webhooks.removeOld(records),
    jobs: () => removeJobsBefore(database, now - kept.jobsMs, now),
    idempotencyKeys: () => removeKeysBefore(database, now - IDEMPOTENCY_KEYS_KEPT_MS),
    // By whole days: each time leaves an entry of its own.
    auditEntries: () => trimAudit(database, Math.floor((now - kept.auditMs) / DAY_MS) * DAY_MS, now),
  };
  const removed: Record<string, number> = {};
  for (const [kind, step] of Object.entries(steps)) {
    try {
      const count = await step();
      if (count > 0) removed[kind] = count;
    } catch (error) {
      logger.warn({ kind, err: error }, 'what is too old was not removed; it is tried again');
    }
  }
  return removed;
}
