/**
 * The queue of a job's targets: claiming them, storing the ends of claims, waking them, ending
 * them in bulk. Each statement that moves targets also moves the counters of the job, so the
 * counters sum to the total at every commit.
 */
import type { Job, TargetOutcome, VerificationDeadlines } from '@flotilla/jobs';
import type { CallError, CallId, DeviceId, HubProcessId, JobId, ToolResult } from '@flotilla/mcp';
import { isTransient } from '../../database/database.js';
import type { Database } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import type { JobFence } from '../job-fence.js';
import type { ReadbackTarget } from '../verification/target-verification.js';
import { lockClaims } from './claim-lock.js';
import {
  CLAIM,
  CORRECT_UNKNOWN,
  END_IN_FLIGHT,
  END_NEVER_SENT,
  FIND_LATE,
  FLUSH,
  MARK_SENT,
  RECOVER,
  RELEASE_RETRIES,
  WAKE_ALL,
  WAKE_DEVICES,
} from './queue-statements.js';
import { DistinctResults } from './distinct-results.js';
import { bareFlush, flushParameters, type TargetFlush } from './target-flush.js';

/** A target claimed for sending. Its intent is committed. */
export interface ClaimedTarget extends ReadbackTarget {
  readonly callId: CallId;
  /** Attempts on the target, this one included. */
  readonly attempts: number;
  readonly deviceName: string | undefined;
  /** Firmware before the send. */
  readonly baselineVersion: string | undefined;
  /**
   * End of the owner's lease, ms since the Unix epoch. Afterwards another process may own the job.
   */
  readonly sendBy: number;
}

/** Targets that ended together, without an answer each. */
interface BulkEnd {
  readonly count: number;
  /** Some of the devices, if there are many. Followers of the job are notified about these. */
  readonly deviceIds: readonly DeviceId[];
}

/** The targets that a former owner left in flight. */
interface Recovery {
  readonly resent: number;
  readonly verifying: number;
  readonly unknown: number;
  readonly unknownDeviceIds: readonly DeviceId[];
}

/** A target that ended before its answer arrived. */
export interface LateTarget {
  readonly callId: CallId;
  readonly failureText: string | undefined;
  readonly verification: Job['verification'];
}

/** The answer of a device after its target had ended. */
export interface LateAnswer {
  readonly callId: CallId;
  readonly outcome: Extract<TargetOutcome, 'SUCCEEDED' | 'FAILED'>;
  readonly error: CallError | undefined;
  readonly result: ToolResult | undefined;
}

/** A target that a late answer has corrected. */
export interface CorrectedTarget {
  readonly jobId: JobId;
  readonly deviceId: DeviceId;
}

/** Waiting targets that one statement releases: more would hold their locks for too long. */
const WAKE_TARGETS_MAX = 5_000;

/** Targets that one statement ends: more would hold their locks for too long. */
const END_TARGETS_MAX = 10_000;

/** Devices named in a BulkEnd. Subscribers receive no more. */
const NAMED_MAX = 1_000;

/** States in which nothing is in flight. */
const NEVER_SENT = ['READY', 'WAITING_DEVICE', 'PENDING', 'RETRY_WAIT'] as const;

export class TargetQueue {
  constructor(private readonly db: Database) {}

  /**
   * Makes `owner` the owner of the job and raises the fence. Undefined if another living process
   * owns the job. Targets that the former owner left in flight are classified by `recover`.
   */
  async takeOwnership(id: JobId, owner: HubProcessId): Promise<JobFence | undefined> {
    const rows = await this.db.query<{ fence: number }>(
      {
        text: `UPDATE job SET owner_id = $2, fence = fence + 1
       WHERE id = $1 AND state <> 'FINISHED' AND (owner_id IS NULL OR owner_id = $2
         OR NOT EXISTS (SELECT FROM hub_process p WHERE p.id = job.owner_id AND p.lease_until > now()))
       RETURNING fence`,
      },
      [id, owner],
    );
    return rows[0] && { jobId: id, fence: rows[0].fence };
  }

  /** Gives the job up, so that another process can own it at once. */
  async releaseOwnership({ jobId, fence }: JobFence): Promise<void> {
    await this.db.query({ text: 'UPDATE job SET owner_id = NULL WHERE id = $1 AND fence = $2' }, [jobId, fence]);
  }

  /** Jobs that are not finished, with their owners. */
  async liveJobs(): Promise<
    readonly { readonly id: JobId; readonly ownerIsAlive: boolean; readonly owner: HubProcessId | undefined }[]
  > {
    const rows = await this.db.query<{ id: JobId; owner_id: HubProcessId | null; alive: boolean }>(
      {
        text: `SELECT j.id, j.owner_id, (p.lease_until > now()) IS TRUE AS alive
       FROM job j LEFT JOIN hub_process p ON p.id = j.owner_id WHERE j.state <> 'FINISHED' ORDER BY j.id`,
      },
      [],
    );
    return rows.map((row) => ({ id: row.id, ownerIsAlive: row.alive, owner: row.owner_id ?? undefined }));
  }

  /** Decides about the targets that a former owner left in flight, after a takeover. */
  async recover(fence: JobFence, at: number, { deadlineMs, softMs }: VerificationDeadlines): Promise<Recovery> {
    const times = { at: new Date(at), deadlineMs, softMs: softMs ?? null };
    const [row] = await RECOVER.run(this.db, { ...fence, ...times, namedMax: NAMED_MAX });
    if (row === undefined) return { resent: 0, verifying: 0, unknown: 0, unknownDeviceIds: [] };
    const { resent, verifying, unknown, unknown_device_ids: unknownDeviceIds } = row;
    return { resent, verifying, unknown, unknownDeviceIds };
  }

  /**
   * Claims up to `limit` READY targets of online devices and commits their intent. Others get what
   * the offline policy says. `isDisruptive`: no claim of another job runs at the same time.
   */
  async claim(fence: JobFence, limit: number, at: number, isDisruptive = false): Promise<readonly ClaimedTarget[]> {
    const rows = await this.db.transaction(async (transaction) => {
      await lockClaims(transaction, isDisruptive);
      return CLAIM.run(transaction, { ...fence, limit, at: new Date(at) });
    });
    return rows.map((row) => ({
      deviceId: row.device_id,
      callId: row.call_id,
      claim: row.claim,
      attempts: row.attempts,
      epoch: row.epoch,
      gatewayId: row.gateway_id,
      toolSetHash: row.tool_set_hash ?? undefined,
      deviceName: row.name ?? undefined,
      baselineVersion: row.baseline_version ?? undefined,
      sendBy: at + row.lease_left_ms,
    }));
  }

  /**
   * Stores the ends of claims, each once. Resolves to the number of targets that changed. An end
   * that PostgreSQL refuses is stored without what the device sent, and keeps no other back.
   */
  async flush(fence: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
    if (flushes.length === 0) return 0;
    try {
      return await this.#flushAll(fence, flushes);
    } catch (error) {
      if (isTransient(error)) throw error;
      if (flushes.length === 1) return this.#flushAll(fence, flushes.map(bareFlush));
      const half = Math.ceil(flushes.length / 2);
      return (await this.flush(fence, flushes.slice(0, half))) + (await this.flush(fence, flushes.slice(half)));
    }
  }

  async #flushAll(fence: JobFence, flushes: readonly TargetFlush[]): Promise<number> {
    const parameters = flushParameters(fence, flushes);
    let count = 0;
    for (let pass = 1; count < flushes.length; pass += 1) {
      const [row] = await FLUSH.run(this.db, parameters);
      const changed = row?.count ?? 0;
      count += changed;
      // A row that `markSent` moved between look-up and update is found in the next pass, even if
      // it is the only one.
      if (pass > 1 && changed === 0) break;
    }
    return count;
  }

  /** Marks targets without an answer as SENT. Their bytes may still wait in the hub. */
  async markSent(fence: JobFence, deviceIds: readonly DeviceId[]): Promise<void> {
    await MARK_SENT.run(this.db, { ...fence, deviceIds });
  }

  /**
   * Makes WAITING_DEVICE targets READY if their device is online: those of `deviceIds`, or all. If
   * all, targets of removed devices end SKIPPED. Resolves to the number of targets that moved.
   */
  async wakeWaiting(fence: JobFence, deviceIds?: readonly DeviceId[]): Promise<number> {
    const parameters = { ...fence, limit: WAKE_TARGETS_MAX };
    let count = 0;
    let changed: number;
    do {
      const [row] =
        deviceIds === undefined
          ? await WAKE_ALL.run(this.db, parameters)
          : await WAKE_DEVICES.run(this.db, { ...parameters, deviceIds });
      changed = row?.count ?? 0;
      count += changed;
    } while (changed === WAKE_TARGETS_MAX);
    return count;
  }

  /**
   * Makes RETRY_WAIT targets READY when their time has come. `nextAt`: when the next one is due.
   */
  async releaseRetries(
    fence: JobFence,
    at: number,
  ): Promise<{ readonly released: number; readonly nextAt: number | undefined }> {
    const [row] = await RELEASE_RETRIES.run(this.db, { ...fence, limit: WAKE_TARGETS_MAX, at: new Date(at) });
    const released = row?.released ?? 0;
    return { released, nextAt: released === WAKE_TARGETS_MAX ? at : row?.next_at?.getTime() };
  }

  /**
   * Ends all targets in which nothing is in flight. Those that were sent before keep the end of
   * their latest attempt.
   */
  async endNeverSent(fence: JobFence, outcome: 'CANCELLED' | 'EXPIRED', at: number): Promise<BulkEnd> {
    const end = { ...fence, outcome, at: new Date(at), limit: END_TARGETS_MAX, namedMax: NAMED_MAX };
    let count = 0;
    const deviceIds: DeviceId[] = [];
    for (const state of NEVER_SENT) {
      let changed: number;
      do {
        const [row] = await END_NEVER_SENT.run(this.db, { ...end, state });
        changed = row?.count ?? 0;
        count += changed;
        deviceIds.push(...(row?.device_ids ?? []).slice(0, NAMED_MAX - deviceIds.length));
      } while (changed > 0);
    }
    return { count, deviceIds };
  }

  /** Ends all targets in flight or in verification as UNKNOWN, for a forced cancel. */
  async endInFlight(fence: JobFence, error: CallError, at: number): Promise<BulkEnd> {
    const end = { at: new Date(at), errorCode: error.code, errorMessage: error.message, namedMax: NAMED_MAX };
    const [row] = await END_IN_FLIGHT.run(this.db, { ...fence, ...end });
    return { count: row?.count ?? 0, deviceIds: row?.device_ids ?? [] };
  }

  /** Targets of any job whose latest call is one of these and that ended UNKNOWN. [jobs §3] */
  async lateTargets(callIds: readonly CallId[]): Promise<readonly LateTarget[]> {
    const rows = await FIND_LATE.run(this.db, { callIds });
    return rows.map((row) => ({
      callId: row.call_id,
      failureText: row.failure_text ?? undefined,
      verification: row.verification,
    }));
  }

  /**
   * Gives UNKNOWN targets the outcome of their late answer, once. Resolves to the targets that
   * changed. [jobs §3]
   */
  async correctUnknown(answers: readonly LateAnswer[]): Promise<readonly CorrectedTarget[]> {
    const results = new DistinctResults();
    const resultHashes = answers.map(({ result }) => result && results.add(result));
    const rows = await CORRECT_UNKNOWN.run(this.db, {
      callIds: answers.map(({ callId }) => callId),
      outcomes: answers.map(({ outcome }) => outcome),
      errorCodes: answers.map(({ error }) => error?.code),
      errorMessages: answers.map(({ error }) => error && storableText(error.message)),
      rpcCodes: answers.map(({ error }) => error?.rpcCode),
      resultHashes,
      hashes: results.hashes,
      bodies: results.bodies,
    });
    return rows.map((row) => ({ jobId: row.job_id, deviceId: row.device_id }));
  }
}
