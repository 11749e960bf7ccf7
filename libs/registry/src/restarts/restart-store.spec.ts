/** Restarts on a real PostgreSQL: which boots are restarts, and what explains them. */
import type { CallId, DeviceId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AT, connecting, openDeviceFixture, SET_A, type DeviceFixture } from '../devices/device-fixture.suite.js';
import type { Registry } from '../registry.js';
import pg from 'pg';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const explained = { rebootMs: 5 * MINUTE, firmwareMs: 20 * MINUTE };
/** When the hub of this spec started, long before the restarts. */
const T = Date.now() + 60 * MINUTE;

let fixture: DeviceFixture;
let registry: Registry;
let raw: pg.Client;

beforeAll(async () => {
  fixture = await openDeviceFixture();
  ({ registry } = fixture);
  raw = new pg.Client({ connectionString: fixture.databaseUrl });
  await raw.connect();
});
afterAll(async () => {
  await raw.end();
  await fixture.close();
});

async function known(id: string): Promise<DeviceId> {
  await raw.query(`INSERT INTO device (id, dialect, reachability) VALUES ($1, 'MCPU', 'ALWAYS')`, [id]);
  return id as DeviceId;
}
const boot = (deviceId: string, bootedAt: number, firmwareVersion = '1.0.0', reason?: string) =>
  registry.restarts.noteBoot({ deviceId, bootedAt, uptimeMs: 5_000, firmwareVersion, reason });
const greeting = (deviceId: string, at: number, uptimeMs: number) =>
  registry.restarts.noteBoot({
    deviceId,
    bootedAt: at - uptimeMs,
    uptimeMs,
    firmwareVersion: '1.0.0',
    reason: undefined,
  });
const call = (deviceId: DeviceId, tool: string, startedAt: number, kind: 'SUCCEEDED' | 'NOT_SENT' = 'SUCCEEDED') =>
  registry.calls.record({
    id: v7({ msecs: startedAt }) as CallId,
    deviceId,
    tool,
    arguments: {},
    startedAt,
    durationMs: 1,
    actor: 'spec',
    outcome: { kind, certainty: kind === 'NOT_SENT' ? 'NEVER' : 'YES' },
  });
const judged = async (now: number) =>
  (await registry.restarts.judge(now, explained)).restarts.map(({ deviceId, cause }) => [deviceId, cause]);

describe('a restart', () => {
  it('is no first boot, no lost link, and each later boot', async () => {
    const id = await known('m1');
    await boot(id, T);
    for (const later of [20_000, -60 * MINUTE]) await boot(id, T + later);
    expect(await judged(T + 60 * MINUTE)).toEqual([]);
    await boot(id, T + 10 * MINUTE, '1.0.1', 'brownout');
    expect(await judged(T + 10 * MINUTE + 19_000)).toEqual([]);
    const { events, restarts } = await registry.restarts.judge(T + 10 * MINUTE + 20_000, explained);
    // Stored with the judgement: no process judges it again.
    const stored = await raw.query(`SELECT id, type, device_id, data FROM event WHERE type LIKE '%unexpectedly'`);
    const data = { firmwareVersion: '1.0.0', bootedVersion: '1.0.1', reason: 'brownout', via: 'uptime' };
    expect(stored.rows).toEqual([{ id: events[0]?.id, type: 'device.restarted_unexpectedly', device_id: 'm1', data }]);
    expect(restarts).toEqual([
      {
        deviceId: 'm1',
        at: T + 10 * MINUTE,
        cause: 'UNEXPECTED',
        via: 'UPTIME',
        firmwareVersion: '1.0.0',
        bootedVersion: '1.0.1',
        reason: 'brownout',
      },
    ]);
    expect(await judged(T + 60 * MINUTE)).toEqual([]);
  });

  it('is no uptime of a slow clock, and a start between two connections', async () => {
    const id = await known('slow');
    await boot(id, T);
    for (const days of [1, 10, 30]) await greeting(id, T + days * DAY, 0.992 * days * DAY);
    expect(await judged(T + 31 * DAY)).toEqual([]);
    await greeting(id, T + 31 * DAY, DAY - 60 * MINUTE);
    expect(await judged(T + 32 * DAY)).toEqual([['slow', 'UNEXPECTED']]);
  });

  it('is no counter of 32 bits that begins again, and each start of a loop after it', async () => {
    const id = await known('counter');
    await boot(id, T);
    for (const days of [50, 60, 110]) await greeting(id, T + days * DAY, (days * DAY) % 2 ** 32);
    expect(await judged(T + 111 * DAY)).toEqual([]);
    for (const minutes of [2, 4]) await greeting(id, T + 110 * DAY + minutes * MINUTE, 5_000);
    expect(await judged(T + 112 * DAY)).toEqual([
      ['counter', 'UNEXPECTED'],
      ['counter', 'UNEXPECTED'],
    ]);
  });

  it('is another version, however soon after the known start', async () => {
    const id = await known('upgraded');
    await boot(id, T);
    await boot(id, T + MINUTE, '1.0.1');
    expect(await judged(T + 10 * MINUTE)).toEqual([['upgraded', 'UNEXPECTED']]);
  });

  it('is no boot that moved with the clock, although PostgreSQL ended the first connection', async () => {
    const id = await known('moved');
    await boot(id, T);
    const holder = new pg.Client({ connectionString: fixture.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE device IN SHARE MODE');
    const moved = registry.restarts.moveBoots([{ deviceId: id, knownAt: T, movedTo: T + 60 * MINUTE }]);
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%moved_to%' AND datname = current_database()`;
    try {
      await expect.poll(async () => (await raw.query(ended)).rowCount, { timeout: 10_000 }).toBe(1);
    } finally {
      await holder.end();
    }
    await moved;
    await boot(id, T + 60 * MINUTE);
    expect(await judged(T + 120 * MINUTE)).toEqual([]);
  });

  it('is explained by one call that restarts devices, and the next one is not', async () => {
    const id = await known('m2');
    await boot(id, T);
    await call(id, 'self.reboot', T + 10 * MINUTE);
    await boot(id, T + 11 * MINUTE);
    await boot(id, T + 12 * MINUTE);
    expect(await judged(T + 20 * MINUTE)).toEqual([
      ['m2', 'CALL'],
      ['m2', 'UNEXPECTED'],
    ]);
  });

  it('is not explained by a call that restarts nothing, that was not sent, or that is long ago', async () => {
    const id = await known('m3');
    await boot(id, T);
    await call(id, 'self.get_device_status', T + 10 * MINUTE);
    await call(id, 'self.reboot', T + 10 * MINUTE, 'NOT_SENT');
    await call(id, 'self.reboot', T + 4 * MINUTE);
    await boot(id, T + 11 * MINUTE);
    expect(await judged(T + 20 * MINUTE)).toEqual([['m3', 'UNEXPECTED']]);
  });

  it('is explained by the policy of exactly this tool before that of a prefix, as for calls', async () => {
    const id = await known('m8');
    const policy = `INSERT INTO tool_policy (pattern, idempotent, disruptive, disconnect_expected, call_timeout_ms)
      VALUES ($1, false, true, $2, 60000)`;
    await raw.query(policy, ['lamp.restart', true]);
    await raw.query(policy, ['lamp.restart*', false]);
    await boot(id, T);
    await call(id, 'lamp.restart', T + 10 * MINUTE);
    await boot(id, T + 11 * MINUTE);
    await call(id, 'lamp.restart_count', T + 12 * MINUTE);
    await boot(id, T + 13 * MINUTE);
    expect(await judged(T + 20 * MINUTE)).toEqual([
      ['m8', 'CALL'],
      ['m8', 'UNEXPECTED'],
    ]);
  });

  it('is explained by a new credential, or by the end of a session when its hub stopped or died', async () => {
    const [one, other, third] = [await known('m4'), await known('m5'), await known('m7')];
    for (const id of [one, other, third]) await boot(id, T);
    await raw.query(
      `INSERT INTO device_credential (device_id, generation, mqtt_client_id, secret_hash, issued_at)
       VALUES ('m4', 1, 'm4', 'x', $1)`,
      [new Date(T + 10 * MINUTE)],
    );
    await raw.query(
      `INSERT INTO session (device_id, epoch, transport, connected_at, disconnected_at, close_reason)
       VALUES ('m5', 1, 'MQTT', $1, $2, 'hub_stopping'), ('m7', 1, 'MQTT', $1, $2, 'hub_crashed')`,
      [new Date(T), new Date(T + 10 * MINUTE)],
    );
    for (const id of [one, other, third]) await boot(id, T + 11 * MINUTE);
    expect((await judged(T + 20 * MINUTE)).sort()).toEqual([
      ['m4', 'CREDENTIAL'],
      ['m5', 'HUB'],
      ['m7', 'HUB'],
    ]);
  });

  it('that a device reports itself counts once', async () => {
    const id = await known('m6');
    await registry.restarts.noteRestart({ deviceId: id, bootedAt: T + 10 * MINUTE, reason: 'watchdog' });
    await registry.restarts.noteRestart({ deviceId: id, bootedAt: T + 10 * MINUTE + 2_000, reason: 'watchdog' });
    expect(await judged(T + 20 * MINUTE)).toEqual([['m6', 'UNEXPECTED']]);
    expect(await registry.restarts.countsOf(['m6', 'none', 'm2'], T)).toEqual([1, 0, 1]);
    expect(await registry.restarts.countsOf(['m6'], T + 11 * MINUTE)).toEqual([0]);
  });
});

describe('the figures of a version', () => {
  it('have its time in service and its unexpected restarts', async () => {
    const { epoch } = await registry.devices.connect({ ...connecting('v1', AT) });
    await registry.devices.ready(fixture.greeted('v1', epoch, SET_A, '3.1.0', AT + 1));
    await registry.devices.closeSession({
      deviceId: 'v1' as DeviceId,
      epoch,
      reason: 'device_closed',
      at: AT + 120 * MINUTE,
    });
    await raw.query(
      `INSERT INTO device_restart (device_id, at, former_at, firmware_version, via, cause)
       VALUES ('v1', $1, $2, '3.1.0', 'OTA', 'UNEXPECTED')`,
      [new Date(AT + 60 * MINUTE), new Date(AT)],
    );
    const figures = await registry.restarts.versionFigures({ ids: ['v1'] }, { since: AT - MINUTE, until: AT + DAY });
    expect(figures).toEqual([
      {
        version: '3.1.0',
        deviceCount: 1,
        offlineCount: 1,
        unexpectedRestarts: 1,
        firstSeenAt: AT,
        deviceHours: expect.closeTo(2, 5) as number,
      },
    ]);
  });
});
