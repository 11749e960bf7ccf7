/** Fills the hub's PostgreSQL with the registry of a large fleet. */
import type { Client } from 'pg';

export interface RegistrySize {
  readonly devices: number;
  /** At least three. */
  readonly toolSets: number;
  /** Each device has three tags: one of these, a floor, and even or odd. */
  readonly siteTags: number;
  readonly groups: number;
  readonly calls: number;
  readonly events: number;
  /** Calls and events are spread evenly over this time, and have a partition for each day. */
  readonly days: number;
}

/** With the calls of a quiet hour. */
export const HUNDRED_THOUSAND: RegistrySize = {
  devices: 100_000,
  toolSets: 3,
  siteTags: 1_000,
  groups: 100,
  calls: 200_000,
  events: 200_000,
  days: 1 / 24,
};

export const MILLION: RegistrySize = {
  devices: 1_000_000,
  toolSets: 300,
  siteTags: 10_000,
  groups: 1_000,
  calls: 10_000_000,
  events: 10_000_000,
  days: 14,
};

const DAY_MS = 86_400_000;

/** The job whose targets are all devices. */
export const LARGE_JOB = '019aa000-0000-7000-8000-000000000001';
/** A device with many calls and events. */
export const DEVICE = 'device-0000007';

const hashes = ['a', 'b', 'c'].map((letter) => letter.repeat(64));

/** Half of the devices have no name. Most filters of the bench match these, which sort last. */
const deviceStatements = ({ devices, toolSets, siteTags, groups }: RegistrySize) => [
  `INSERT INTO tool_set (hash) SELECT unnest(ARRAY['${hashes.join("', '")}'])
   UNION ALL SELECT md5(n::text) || md5(n::text) FROM generate_series(4, ${toolSets}) n`,
  `INSERT INTO tool (tool_set_hash, position, name, description, input_schema, schema_hash, user_only, schema_known)
   SELECT hash, n, 'bench.tool_' || n, 'A tool', '{"type":"object"}'::jsonb, md5(n::text), false, true FROM tool_set,
     generate_series(1, 100) n
   UNION ALL SELECT '${hashes[1] ?? ''}', 101, 'bench.rare', '', '{}'::jsonb, 'h', false, true
   UNION ALL SELECT hash, 102, 'bench.some', '', '{}'::jsonb, 'h', false, true FROM tool_set
     WHERE hash <> '${hashes[0] ?? ''}'`,
  `INSERT INTO device (id, name, dialect, model, firmware_version, reachability, transport, epoch, online, gateway_id,
     tool_set_hash, tags, last_seen_at)
   SELECT 'device-' || lpad(n::text, 7, '0'), CASE WHEN n % 2 = 0 THEN 'Lamp ' || md5(n::text) END, CASE
     WHEN n % 100 = 1 THEN 'MCPU' ELSE 'XIAOZHI' END::dialect,
     CASE WHEN n % 33333 = 1 THEN 'three' ELSE 'model-' || n % 10 END, '2.0.' || n % 12, 'ALWAYS', 'MQTT', 1,
       n % 33333 > 1, (SELECT id FROM hub_process LIMIT 1),
     CASE WHEN n % 1000 = 0 THEN '${hashes[1] ?? ''}'
       WHEN n % 20 = 1 THEN '${hashes[2] ?? ''}'
       WHEN n % 20 = 2 AND ${toolSets} > 3 THEN repeat(md5((4 + n / 20 % greatest(${toolSets} - 3, 1))::text), 2)
       ELSE '${hashes[0] ?? ''}' END,
     CASE WHEN n % 33333 = 1 THEN ARRAY['three']
       ELSE ARRAY['floor-' || n % 50, 'site-' || n % ${siteTags}, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END] END,
     '2026-01-01'::timestamptz + n * interval '1 s'
   FROM generate_series(1, ${devices}) AS n`,
  `INSERT INTO device_group (id, name, filter) SELECT uuid_v7(now()), 'Site ' || n,
     jsonb_build_object('tags', jsonb_build_array('site-' || n)) FROM generate_series(1, ${groups}) AS n`,
  `INSERT INTO job (id, name, tool, arguments, devices, state, conclusion, offline, expires_at, call_timeout_ms,
     max_in_flight, idempotent, total, created_by,
     created_by_id, may_call_user_only, request_hash, created_at, finished_at)
   SELECT CASE WHEN n = 0 THEN '${LARGE_JOB}'::uuid ELSE uuid_v7(now() - n * interval '1 minute') END, 'Job ' || n,
     'bench.tool_' || n % 100, '{}', '{"all": true}',
     'FINISHED', 'PARTIAL', 'SKIP', now(), 5000, 100, true, CASE WHEN n = 0 THEN ${devices} ELSE 0 END, 'bench',
       'KEY:bench', false, 'h', now(), now()
   FROM generate_series(0, 2000) AS n`,
  `INSERT INTO job_counter (job_id, shard, succeeded) SELECT id, 0, coalesce(total, 0) FROM job`,
  `INSERT INTO job_result (job_id, hash, result) VALUES ('${LARGE_JOB}', 'r',
     '{"content":[{"type":"text","text":"true"}],"isError":false}')`,
  `INSERT INTO job_target (job_id, device_id, ordinal, state, outcome, certainty, attempts, claim, call_id, started_at,
     decided_at, error_code, error_message, result_hash)
   SELECT '${LARGE_JOB}', 'device-' || lpad(n::text, 7, '0'), n, 'DECIDED', o.outcome, 'YES', 1, 1,
     uuid_v7(now() - n * interval '10 ms'), now(), now(),
     CASE WHEN o.outcome <> 'SUCCEEDED' THEN 'DEVICE_ERROR' END, CASE
       WHEN o.outcome <> 'SUCCEEDED' THEN 'It said no.' END, CASE WHEN o.outcome = 'SUCCEEDED' THEN 'r' END
   FROM generate_series(1, ${devices}) AS n,
     LATERAL (SELECT CASE WHEN n % 33333 = 1 THEN 'EXPIRED'
       WHEN n % 50 = 3 THEN 'FAILED' ELSE 'SUCCEEDED' END::outcome AS outcome) o`,
];

const recordStatements = ({ calls, events, days }: RegistrySize) => [
  `INSERT INTO call (id, device_id, tool, arguments, outcome, certainty, result, started_at, duration_ms, actor)
   SELECT uuid_v7(now() - n * interval '${(days * DAY_MS) / calls} ms'), 'device-' || lpad((n % 1000)::text, 7, '0'),
     'bench.tool_' || n % 100,
     '{"volume": 5}',
     CASE WHEN n % 60000 = 1 THEN 'UNKNOWN' WHEN n % 100 = 3 THEN 'FAILED' ELSE 'SUCCEEDED' END::outcome, 'YES',
       '{"content":[],"isError":false}', now(), 12, 'bench'
   FROM generate_series(1, ${calls}) AS n`,
  `INSERT INTO event (id, type, device_id, data)
   SELECT uuid_v7(now() - n * interval '${(days * DAY_MS) / events} ms'),
     CASE WHEN n % 60000 = 1 THEN 'bench.rare' ELSE 'bench.common' END,
     'device-' || lpad((n % 1000)::text, 7, '0'), '{"n": 1}'
   FROM generate_series(1, ${events}) AS n`,
  `INSERT INTO audit_entry (id, sequence, at, actor, action, subject, data, hash)
   SELECT uuid_v7(now() - n * interval '1 s'), 1000000 + n, now() - n * interval '1 s', 'actor-' || n % 50,
     'action.' || n % 20, 'device:device-' || lpad((n % 1000)::text, 7, '0'), '{}', md5(n::text)
   FROM generate_series(1, 100000) AS n`,
  `INSERT INTO enrolment (id, code, challenge, device_id, client_uuid_hash, requested_at, last_request_at)
   SELECT uuid_v7(now() - n * interval '1 s'), lpad(n::text, 6, '0'), 'c', 'waiting-' || n, md5(n::text), now(), now()
     FROM generate_series(1, 1000) AS n`,
  `INSERT INTO upload (id, device_id, kind, content_type, size_bytes, sha256, storage_key)
   SELECT uuid_v7(now() - n * interval '1 s'), 'device-' || lpad((n % 1000)::text, 7, '0'), 'PHOTO', 'image/jpeg',
     1000, md5(n::text), 'k' || n FROM generate_series(1, 50000) AS n`,
  `WITH image AS (
     INSERT INTO firmware_image (id, kind, file_name, project, version, chip, size_bytes, sha256, storage_key,
       uploaded_at, uploaded_by, published_at)
     SELECT uuid_v7(now() - n * interval '1 s'), 'FIRMWARE', 'f.bin', 'p', '2.1.' || n, 'esp32s3', 1000, md5(n::text),
       'f' || n, now(), 'bench', now() FROM generate_series(1, 1000) AS n
     RETURNING id, kind, version)
   INSERT INTO firmware_release (kind, model, version, image_id) SELECT kind, 'model-' || m, version, id FROM image,
     generate_series(1, 5) m`,
  `INSERT INTO webhook (id, url, types, secret, created_by, enabled) SELECT uuid_v7(now()),
     'https://example.com/' || n, ARRAY['bench.none'], 's', 'bench', false FROM generate_series(1, 20) AS n`,
  `INSERT INTO webhook_delivery (id, webhook_id, event_id, attempt, status, at, delivered)
   SELECT uuid_v7(now() - n * interval '1 s'), w.id, uuid_v7(now()), 1, 200, now(), true FROM webhook w,
     generate_series(1, 5000) AS n`,
  `INSERT INTO user_account (id, name, email, role) SELECT uuid_v7(now()), 'Person ' || n,
     'person-' || n || '@example.com', 'VIEWER' FROM generate_series(1, 1000) AS n`,
  `INSERT INTO api_key (id, name, prefix, secret_hash, scopes) SELECT uuid_v7(now()), 'Key ' || n, 'fk_', md5(n::text),
     ARRAY['DEVICES_READ'] FROM generate_series(1, 900) AS n`,
  'VACUUM ANALYZE',
];

export async function fillRegistry(database: Client, size: RegistrySize): Promise<void> {
  for (const statement of [...partitionsOf(size, Date.now()), ...deviceStatements(size), ...recordStatements(size)])
    await database.query(statement);
}

/** A hub that ran all the time has them. */
function partitionsOf({ days }: RegistrySize, now: number): readonly string[] {
  const today = Math.floor(now / DAY_MS);
  return Array.from({ length: Math.floor(days) + 1 }, (_, index) => today - 1 - index).flatMap((day) => {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
    return ['call', 'event'].map(
      (table) =>
        `CREATE TABLE IF NOT EXISTS ${table}_${date} PARTITION OF ${table}
         FOR VALUES FROM ('${lowestUuidOf(day * DAY_MS)}') TO ('${lowestUuidOf((day + 1) * DAY_MS)}')`,
    );
  });
}

/** The lowest UUIDv7 of this time, ms since the Unix epoch. */
function lowestUuidOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
