/** The SQL of verifications, with the types of its parameters and columns. */
import type { DownloadState } from '@flotilla/jobs';
import type { CallError, CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { sql, SqlFile } from '../../database/sql-file.js';

const { array, bigint, boolean, float, integer, named, orNull, text, timestamp, uuid } = sql;
const fence = { jobId: uuid<JobId>(), fence: integer };
/** An array with gaps, which pg writes as NULL. */
const gaps = (name: string) => named<readonly (string | undefined)[]>(`${name}[]`);

export const READ_EVIDENCE = new SqlFile(new URL('./read-evidence.sql', import.meta.url), {
  name: 'job-evidence',
  parameters: { ...fence, at: timestamp, callIds: array(uuid<CallId>()) },
  row: {
    verifying_count: integer,
    /** Null in the one row of a job without news. */
    device_id: orNull(text<DeviceId>()),
    claim: integer,
    attempts: integer,
    call_id: uuid<CallId>(),
    sent_epoch: integer,
    epoch: orNull(integer),
    is_online: boolean,
    gateway_id: orNull(uuid<HubProcessId>()),
    baseline_version: orNull(text()),
    expected_version: orNull(text()),
    firmware_version: orNull(text()),
    connected_at: orNull(timestamp),
    boot_at: orNull(timestamp),
    boot_version: orNull(text()),
    has_answered: boolean,
    download: text<DownloadState>(),
    cut_retries: named<number>('smallint'),
    has_left: boolean,
    back_since: orNull(timestamp),
    last_byte_at: orNull(timestamp),
    verify_deadline_at: timestamp,
    soft_deadline_at: orNull(timestamp),
    error_code: orNull(text<CallError['code']>()),
    error_message: orNull(text()),
  },
});

export const SETTLE = new SqlFile(new URL('./settle-verifications.sql', import.meta.url), {
  name: 'job-verified',
  parameters: {
    ...fence,
    at: timestamp,
    deviceIds: array(text<DeviceId>()),
    claims: array(integer),
    outcomes: gaps('outcome'),
    errorCodes: gaps('text'),
    errorMessages: gaps('text'),
    areCut: array(boolean),
  },
  row: { device_id: text<DeviceId>() },
});

export const CLAIM_READBACKS = new SqlFile(new URL('./claim-readbacks.sql', import.meta.url), {
  name: 'job-readback',
  parameters: { ...fence, limit: bigint, at: timestamp, againAt: timestamp },
  row: {
    device_id: text<DeviceId>(),
    claim: integer,
    epoch: integer,
    gateway_id: uuid<HubProcessId>(),
    tool_set_hash: orNull(text<ToolSetHash>()),
  },
});

export const COUNT_OVERDUE = new SqlFile(new URL('./count-overdue.sql', import.meta.url), {
  parameters: { jobId: uuid<JobId>(), at: timestamp, overdueMs: float },
  row: { wave: integer, count: integer },
});

export const EXTEND_VERIFYING = new SqlFile(new URL('./extend-verifying.sql', import.meta.url), {
  parameters: { ...fence, until: timestamp },
  row: {},
});
