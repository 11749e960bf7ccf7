/** Targets in VERIFYING: the evidence about their devices, and the ends of their verifications. */
import type { VerificationEnd, VerifyingTarget } from '@flotilla/jobs';
import type { CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import type { Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import type { RowOf } from '../../database/sql-file.js';
import type { JobFence } from '../job-fence.js';
import { CLAIM_READBACKS, COUNT_OVERDUE, EXTEND_VERIFYING, READ_EVIDENCE, SETTLE } from './verification-statements.js';

interface VerificationLook {
  /** All targets in VERIFYING, with or without news. */
  readonly verifyingCount: number;
  /** Those with news. */
  readonly targets: readonly VerifyingTarget[];
}

/** A connected target whose value is due to be read. */
export interface ReadbackTarget {
  readonly deviceId: DeviceId;
  /** The claim number. It fences the end of the claim. */
  readonly claim: number;
  readonly epoch: number;
  readonly gatewayId: HubProcessId;
  readonly toolSetHash: ToolSetHash | undefined;
}

export class TargetVerification {
  constructor(private readonly db: Queryable) {}

  /** Reads the targets with news, and those of `callIds`. */
  async verifying(fence: JobFence, at: number, callIds: readonly CallId[] = []): Promise<VerificationLook> {
    const rows = await READ_EVIDENCE.run(this.db, { ...fence, at: new Date(at), callIds });
    return {
      verifyingCount: rows[0]?.verifying_count ?? 0,
      targets: rows.flatMap((row) => (row.device_id === null ? [] : [targetOf(row, row.device_id)])),
    };
  }

  /** Stores the ends of verifications. Resolves to the devices whose targets changed. */
  async settleVerifications(
    fence: JobFence,
    ends: readonly VerificationEnd[],
    at: number,
  ): Promise<readonly DeviceId[]> {
    if (ends.length === 0) return [];
    const errors = ends.map(({ to }) => to.error);
    const rows = await SETTLE.run(this.db, {
      ...fence,
      at: new Date(at),
      deviceIds: ends.map(({ deviceId }) => deviceId),
      claims: ends.map(({ claim }) => claim),
      outcomes: ends.map(({ to }) => (to.kind === 'decided' ? to.outcome : undefined)),
      errorCodes: errors.map((error) => error?.code),
      errorMessages: errors.map((error) => error && storableText(error.message)),
      areCut: ends.map(({ to }) => to.kind === 'again' && to.retry === 'SAME_ATTEMPT'),
    });
    return rows.map((row) => row.device_id);
  }

  /**
   * Takes connected targets whose value is due to be read. Each is due again at `againAt` unless it
   * is decided by then.
   */
  async claimReadbacks(
    fence: JobFence,
    limit: number,
    { at, againAt }: { readonly at: number; readonly againAt: number },
  ): Promise<readonly ReadbackTarget[]> {
    const due = { at: new Date(at), againAt: new Date(againAt) };
    const rows = await CLAIM_READBACKS.run(this.db, { ...fence, limit, ...due });
    return rows.map((row) => ({
      deviceId: row.device_id,
      claim: row.claim,
      epoch: row.epoch,
      gatewayId: row.gateway_id,
      toolSetHash: row.tool_set_hash ?? undefined,
    }));
  }

  /**
   * Counts, by wave, offline devices past their soft deadline that received no byte of an image for
   * `overdueMs`.
   */
  async overdue(jobId: JobId, at: number, overdueMs: number): Promise<ReadonlyMap<number, number>> {
    const rows = await COUNT_OVERDUE.run(this.db, { jobId, at: new Date(at), overdueMs });
    return new Map(rows.map(({ wave, count }) => [wave, count]));
  }

  /**
   * Moves earlier deadlines to `until` after a takeover: without an owner, no process watched the
   * devices.
   */
  async extendVerifying(fence: JobFence, until: number): Promise<void> {
    await EXTEND_VERIFYING.run(this.db, { ...fence, until: new Date(until) });
  }
}

function targetOf(row: RowOf<typeof READ_EVIDENCE>, deviceId: DeviceId): VerifyingTarget {
  return {
    deviceId,
    claim: row.claim,
    attempts: row.attempts - row.cut_retries,
    cutRetries: row.cut_retries,
    callId: row.call_id,
    gatewayId: row.gateway_id ?? undefined,
    sentEpoch: row.sent_epoch,
    epoch: row.epoch ?? undefined,
    isOnline: row.is_online,
    hasLeft: row.has_left,
    version: row.firmware_version ?? undefined,
    baselineVersion: row.baseline_version ?? undefined,
    expectedVersion: row.expected_version ?? undefined,
    backSince: row.back_since?.getTime(),
    connectedAt: row.connected_at?.getTime(),
    bootedAt: row.boot_at?.getTime(),
    bootVersion: row.boot_version ?? undefined,
    hasAnswered: row.has_answered,
    download: row.download,
    lastByteAt: row.last_byte_at?.getTime(),
    deadlineAt: row.verify_deadline_at.getTime(),
    softDeadlineAt: row.soft_deadline_at?.getTime(),
    callError: row.error_code === null ? undefined : { code: row.error_code, message: row.error_message ?? '' },
  };
}
