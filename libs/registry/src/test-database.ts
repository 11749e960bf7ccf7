/** A fresh, migrated database for a spec, on the server of the test run. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { RegistryError } from './registry-error.js';
import { execute, TEMPLATE_DATABASE, withDatabase } from './test-server.js';

export interface TestDatabase {
  readonly databaseUrl: string;
  /** Drops the database. Close what uses it first. */
  close(): Promise<void>;
}

/** Opens a database with all migrations, partitions of these days, and no rows or ticks. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const serverUrl = process.env['FLOTILLA_TEST_POSTGRES'];
  if (serverUrl === undefined)
    throw new RegistryError('DATABASE_UNAVAILABLE', 'FLOTILLA_TEST_POSTGRES names no server: run specs with vitest.');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const server = await (connection ??= connect(serverUrl));
  // Copied by files it takes half the time that it takes by pages.
  await server.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE_DATABASE} STRATEGY FILE_COPY`);
  let closed: Promise<unknown> | undefined;
  return {
    databaseUrl: withDatabase(serverUrl, name),
    close: async () => void (await (closed ??= server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))),
  };
}

/** One per process, because a new one costs PostgreSQL up to 30 ms of CPU. */
let connection: Promise<pg.Client> | undefined;

async function connect(serverUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  return client;
}

/**
 * Adds roll-outs with targets, images, pictures, and webhooks with deliveries, for devices `d0`,
 * `d1` and so on.
 */
export async function fillWithRows(databaseUrl: string, count: number): Promise<void> {
  await execute(
    databaseUrl,
    `DO $$ DECLARE image uuid; job uuid; hook uuid; BEGIN
    FOR n IN 1..${String(count)} LOOP
      image := uuid_v7(now() - n * interval '1 s'); job := uuid_v7(now() - n * interval '1 s');
      hook := uuid_v7(now());
      INSERT INTO firmware_image (id, kind, file_name, project, version, chip, size_bytes, sha256, storage_key,
          uploaded_at, uploaded_by, published_at)
        VALUES (image, 'FIRMWARE', 'f.bin', 'p', '2.1.' || n, 'esp32s3', 1000, md5(n::text), 'f' || n,
          now(), 'spec', now());
      INSERT INTO firmware_release (kind, model, version, image_id)
        VALUES ('FIRMWARE', 'board-' || n, '2.1.' || n, image);
      INSERT INTO job (id, name, tool, arguments, devices, state, conclusion, offline, expires_at, call_timeout_ms,
          max_in_flight, idempotent, total, created_by, created_by_id, may_call_user_only, request_hash, created_at,
          finished_at, firmware_image_id)
        VALUES (job, 'Job ' || n, 'self.upgrade_firmware', '{}', '{"all": true}', 'FINISHED', 'PARTIAL', 'SKIP', now(),
          5000, 100, true, 50, 'spec', 'KEY:spec', false, 'h', now(), now(), image);
      INSERT INTO job_counter (job_id, shard, succeeded) VALUES (job, 0, 50);
      INSERT INTO job_target (job_id, device_id, ordinal, state, outcome, certainty, attempts, claim, call_id,
          started_at, decided_at)
        SELECT job, 'd' || d, d, 'DECIDED', 'SUCCEEDED', 'YES', 1, 1, uuid_v7(now()), now(), now()
        FROM generate_series(0, 49) AS d;
      INSERT INTO upload (id, device_id, kind, content_type, size_bytes, sha256, storage_key)
        VALUES (uuid_v7(now() - n * interval '1 s'), 'd' || n, 'PHOTO', 'image/jpeg', 1000, md5(n::text), 'k' || n);
      INSERT INTO webhook (id, url, types, secret, created_by, enabled)
        VALUES (hook, 'https://example.com/' || n, ARRAY['spec.none'], 's', 'spec', false);
      INSERT INTO webhook_delivery (id, webhook_id, event_id, attempt, status, at, delivered)
        VALUES (uuid_v7(now()), hook, uuid_v7(now()), 1, 200, now(), true);
    END LOOP; END $$`,
  );
}

/**
 * Counts the statements that this process sends to PostgreSQL, until `stop` returns their number.
 * One count at a time.
 */
export function watchStatements(): { stop(): number } {
  const { prototype } = pg.Client;
  const sent = Reflect.get(prototype, 'query') as (...args: unknown[]) => unknown;
  let count = 0;
  Reflect.set(prototype, 'query', function (this: pg.Client, ...args: unknown[]): unknown {
    count++;
    return Reflect.apply(sent, this, args);
  });
  return {
    stop: () => {
      Reflect.set(prototype, 'query', sent);
      return count;
    },
  };
}
