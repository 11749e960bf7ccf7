/** The counts of a health gate, over rows of a roll-out to three of five boards. */
import { randomUUID } from 'node:crypto';
import type { JobId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 20);
const [image, job] = [randomUUID(), randomUUID() as JobId];
const at = (minutes: number) => new Date(START + minutes * MINUTE);

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
  const { raw } = fixture;
  await raw.query(
    `INSERT INTO firmware_image (id, kind, file_name, project, version, chip, size_bytes, sha256, storage_key,
       uploaded_at, uploaded_by) VALUES ($1, 'FIRMWARE', 'f', 'p', '2.0.0', 'esp32s3', 1, 'x', 'x', now(), 'spec')`,
    [image],
  );
  await raw.query(
    `INSERT INTO job (id, tool, arguments, devices, state, offline, expires_at, call_timeout_ms, max_in_flight,
       idempotent, created_by, created_by_id, may_call_user_only, request_hash, created_at, firmware_image_id)
     VALUES ($1, 't', '{}', '{}', 'RUNNING', 'WAIT', now(), 1, 1, false, 'spec', 'KEY:spec', false, 'h', now(), $2)`,
    [job, image],
  );
  await raw.query(`INSERT INTO device (id, dialect, reachability, model)
    SELECT 'b' || n, 'XIAOZHI', 'ALWAYS', CASE WHEN n < 6 THEN 'board' ELSE 'other' END FROM generate_series(1, 6) n`);
  await raw.query(
    `INSERT INTO job_target (job_id, device_id, ordinal, wave, state)
     SELECT $1, 'b' || n, n, CASE WHEN n < 3 THEN 1 ELSE 2 END, 'PENDING' FROM generate_series(1, 3) n`,
    [job],
  );
  // Two hours on each version for those that are upgraded; four on the old one for the others.
  await raw.query(
    `INSERT INTO session (device_id, epoch, transport, firmware_version, connected_at, disconnected_at)
     SELECT 'b' || n, 1, 'MQTT'::transport_kind, '1.0.0', $1::timestamptz,
       CASE WHEN n < 3 THEN $2::timestamptz ELSE $3 END
     FROM generate_series(1, 6) n
     UNION ALL SELECT 'b' || n, 2, 'MQTT'::transport_kind, '2.0.0', $2, $3 FROM generate_series(1, 2) n`,
    [at(0), at(120), at(240)],
  );
});
afterAll(() => fixture.close());

const restart = (device: string, minutes: number, version: string, cause = 'UNEXPECTED') =>
  fixture.raw.query(
    `INSERT INTO device_restart (device_id, at, former_at, firmware_version, via, cause)
     VALUES ($1, $2, $3, $4, 'OTA', $5)`,
    [device, at(minutes), at(minutes - 1), version, cause],
  );
const counts = (wave = 1, since = 0) =>
  fixture.registry.restarts.health({ id: job, since: START + since * MINUTE, wave }, START + 240 * MINUTE);

describe('the counts of a health gate', () => {
  it('have the hours of the new version, and those of boards of the same model on another one', async () => {
    expect(await counts()).toEqual({
      version: '2.0.0',
      restarts: 0,
      deviceHours: expect.closeTo(4, 5) as number,
      // Two boards for two hours and three for four; the board of another model is left out.
      baselineRestarts: 0,
      baselineDeviceHours: expect.closeTo(16, 5) as number,
      loopingDevices: 0,
    });
  });

  it('have unexpected restarts by the version that ran, and the devices of the wave that loop', async () => {
    for (const minutes of [130, 134, 138]) await restart('b1', minutes, '2.0.0');
    for (const minutes of [140, 160, 180]) await restart('b2', minutes, '2.0.0');
    await restart('b2', 190, '2.0.0', 'CALL');
    await restart('b4', 10, '1.0.0');
    await restart('b6', 10, '1.0.0');
    expect(await counts()).toMatchObject({ restarts: 6, baselineRestarts: 1, loopingDevices: 1 });
    expect(await counts(2)).toMatchObject({ restarts: 6, loopingDevices: 0 });
    expect(await counts(1, 150)).toMatchObject({ restarts: 2, baselineRestarts: 0, loopingDevices: 0 });
  });

  it('are unknown without the image', async () => {
    const other = { id: randomUUID() as JobId, since: START, wave: 1 };
    expect(await fixture.registry.restarts.health(other, START)).toBeUndefined();
  });
});
