/** The SQL of the target queue, with the types of its parameters and columns. */
import type { TargetState, Verification } from '@flotilla/jobs';
import type { CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from '@flotilla/mcp';
import { sql, SqlFile } from '../../database/sql-file.js';

const { array, bigint, boolean, float, integer, named, orNull, text, timestamp, uuid } = sql;

const fence = { jobId: uuid<JobId>(), fence: integer };
/** An array with gaps, which pg writes as NULL. */
const gaps = (name: string) => named<readonly (string | number | undefined)[]>(`${name}[]`);
/** An array that is already in the syntax of PostgreSQL. */
const literal = (name: string) => named<string>(`${name}[]`);
const ended = { count: integer, device_ids: array(text<DeviceId>()) };

export const CLAIM = new SqlFile(new URL('./claim-targets.sql', import.meta.url), {
  name: 'job-claim',
  parameters: { ...fence, limit: bigint, at: timestamp },
  row: {
    device_id: text<DeviceId>(),
    call_id: uuid<CallId>(),
    claim: integer,
    attempts: integer,
    epoch: integer,
    gateway_id: uuid<HubProcessId>(),
    tool_set_hash: orNull(text<ToolSetHash>()),
    name: orNull(text()),
    baseline_version: orNull(text()),
    lease_left_ms: float,
  },
});

export const FLUSH = new SqlFile(new URL('./flush-targets.sql', import.meta.url), {
  name: 'job-flush',
  parameters: {
    ...fence,
    hashes: array(text()),
    bodies: array(text()),
    states: gaps('target_state'),
    outcomes: gaps('outcome'),
    certainties: gaps('send_certainty'),
    errorCodes: gaps('text'),
    errorMessages: gaps('text'),
    rpcCodes: gaps('integer'),
    resultHashes: gaps('text'),
    areEnds: array(boolean),
    deviceIds: array(text<DeviceId>()),
    claims: literal('integer'),
    places: literal('integer'),
    startedAts: literal('double precision'),
    ats: literal('double precision'),
    retryAts: literal('double precision'),
    deadlines: literal('double precision'),
    softDeadlines: literal('double precision'),
  },
  row: { count: integer },
});

export const MARK_SENT = new SqlFile(new URL('./mark-sent.sql', import.meta.url), {
  parameters: { ...fence, deviceIds: array(text<DeviceId>()) },
  row: {},
});

export const WAKE_DEVICES = new SqlFile(new URL('./wake-devices.sql', import.meta.url), {
  parameters: { ...fence, limit: bigint, deviceIds: array(text<DeviceId>()) },
  row: { count: integer },
});

export const WAKE_ALL = new SqlFile(new URL('./wake-all.sql', import.meta.url), {
  parameters: { ...fence, limit: bigint },
  row: { count: integer },
});

export const RELEASE_RETRIES = new SqlFile(new URL('./release-retries.sql', import.meta.url), {
  parameters: { ...fence, limit: bigint, at: timestamp },
  row: { released: integer, next_at: orNull(timestamp) },
});

export const END_NEVER_SENT = new SqlFile(new URL('./end-never-sent.sql', import.meta.url), {
  parameters: {
    ...fence,
    outcome: named<'CANCELLED' | 'EXPIRED'>('outcome'),
    at: timestamp,
    state: named<TargetState>('target_state'),
    limit: bigint,
    namedMax: integer,
  },
  row: ended,
});

export const END_IN_FLIGHT = new SqlFile(new URL('./end-in-flight.sql', import.meta.url), {
  parameters: { ...fence, at: timestamp, errorCode: text(), errorMessage: text(), namedMax: integer },
  row: ended,
});

export const RECOVER = new SqlFile(new URL('./recover-targets.sql', import.meta.url), {
  parameters: { ...fence, at: timestamp, deadlineMs: float, softMs: orNull(float), namedMax: integer },
  row: { resent: integer, verifying: integer, unknown: integer, unknown_device_ids: array(text<DeviceId>()) },
});

export const FIND_LATE = new SqlFile(new URL('./find-late-targets.sql', import.meta.url), {
  parameters: { callIds: array(uuid<CallId>()) },
  row: { call_id: uuid<CallId>(), failure_text: orNull(text()), verification: named<Verification>('verification') },
});

export const CORRECT_UNKNOWN = new SqlFile(new URL('./correct-unknown.sql', import.meta.url), {
  parameters: {
    callIds: array(uuid<CallId>()),
    outcomes: gaps('outcome'),
    errorCodes: gaps('text'),
    errorMessages: gaps('text'),
    rpcCodes: gaps('integer'),
    resultHashes: gaps('text'),
    hashes: array(text()),
    bodies: array(text()),
  },
  row: { job_id: uuid<JobId>(), device_id: text<DeviceId>() },
});
