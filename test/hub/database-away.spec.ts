/**
 * PostgreSQL stops and returns while devices are connected and a job runs: no device is
 * disconnected, nothing hangs, nothing runs twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { FlotillaClient } from '@flotilla/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { callTool, deviceThat, isOnline } from '../src/devices/device-api.js';
import { clientIdOf, mqttLogin } from '../src/devices/device-credentials.js';
import { eventually } from '../src/eventually.js';
import { ask, send } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { createJob, finished, jobOf, online, readJob, sumOf, targetsOf } from '../src/jobs/job-api.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { openSeverablePostgres, type SeverablePostgres } from '../src/hub/severable-postgres.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const DEVICES = 40;
/** As long as a lease, and then some: every lease lapses meanwhile. */
const LONG_OUTAGE_MS = isLong ? 25_000 : 18_000;
const SHORT_OUTAGE_MS = 5_000;

const outages = [
  ['cut off', SHORT_OUTAGE_MS],
  ['hanging', SHORT_OUTAGE_MS],
  ['cut off', LONG_OUTAGE_MS],
  ['hanging', LONG_OUTAGE_MS],
] as const;

describe('while PostgreSQL is away', () => {
  let postgres: SeverablePostgres;
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    postgres = await openSeverablePostgres();
    const env = {
      DATABASE_URL: postgres.url,
      FLOTILLA_ADMIN_KEY: 'a-key-for-the-story-of-the-outage-0123456789',
      FLOTILLA_DEVICE_SECRET: 'a-secret-for-the-story-0123456789',
    };
    hub = await startHub({ env });
    fleet = startFleet(hub, {
      devices: DEVICES,
      profile: 'lamp',
      transport: 'mixed',
      seed: 21,
      args: ['--answer-delay-ms', '100'],
    });
    await online(hub, DEVICES);
    // A key that has read metrics before goes on reading them.
    await metric(hub, 'flotilla_sessions');
  });
  afterAll(async () => {
    await postgres.restore();
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
    await postgres.close();
  });

  /**
   * What the hub says meanwhile. Every answer comes soon, and none of them claims what cannot be
   * known.
   */
  async function expectPatience(untilAt: number): Promise<void> {
    const health = async (path: string) =>
      (await fetch(`${hub.httpUrl}/health/${path}`, { signal: AbortSignal.timeout(5_000) })).status;
    do {
      expect(await health('live')).toBe(200);
      expect(await health('ready')).toBe(503);
      expect(await metric(hub, 'flotilla_sessions')).toBeGreaterThanOrEqual(DEVICES);
      const askedAt = Date.now();
      const input = { deviceId: '02:00:15:00:00:00', tool: 'self.get_device_status', timeoutMs: 2_000 };
      const answer = await send(
        hub,
        'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } userErrors { code } } }',
        { input },
      );
      expect(Date.now() - askedAt).toBeLessThan(12_000);
      const { call, userErrors } = (answer.data?.['callTool'] ?? {}) as {
        call?: { outcome: string } | null;
        userErrors?: { code: string }[];
      };
      const said = answer.errors?.[0]?.extensions?.code ?? userErrors?.[0]?.code ?? call?.outcome;
      expect(['UNAVAILABLE', 'OVERLOADED', 'SUCCEEDED']).toContain(said);
      await pause(200);
    } while (Date.now() < untilAt);
  }

  it.each(isLong ? outages : outages.slice(1, 3))(
    '%s for %i ms, devices stay and a job ends by itself',
    async (how, outageMs) => {
      const tool = 'self.lamp.turn_on';
      const [leaver, newcomer] = [`02:00:00:00:08:${outageMs / 1_000}`, `02:00:00:00:18:${outageMs / 1_000}`].map(
        (mac) => mac.replace(/:5$/, ':05'),
      ) as [string, string];
      const leaving = await RawMqttDevice.connect(hub, leaver);
      await deviceThat(hub, leaver, isOnline);
      const sessionsBefore = await sessionsByDevice();
      const runsBefore = (await fleet.counts()).devices;
      const id = await jobOf(
        hub,
        { tool, arguments: {}, devices: { search: '02:00:15' }, maxInFlight: 4 },
        `outage-${how}-${outageMs}`,
      );
      const followed = stateAtEnd(id);
      await eventually(
        () => readJob(hub, id),
        (job) => job.progress.succeeded >= 4,
      );

      const backAt = Date.now() + outageMs;
      if (how === 'hanging') postgres.block();
      else await postgres.cut();
      await eventually(
        () => fetch(`${hub.httpUrl}/health/ready`).then(({ status }) => status),
        (status) => status === 503,
      );
      await expectPatience(backAt - 1_000);
      // Meanwhile one device leaves and one connects. A device that cannot be checked is asked to
      // connect later.
      leaving.drop();
      expect([0, 3]).toContain(await knock(hub, newcomer));
      await pause(Math.max(0, backAt - Date.now()));
      await postgres.restore();

      const job = await finished(hub, id);
      expect(sumOf(job)).toBe(DEVICES);
      expect(await followed).toBe('FINISHED');
      const runs = (await fleet.counts()).devices;
      for (const { deviceId, outcome } of await targetsOf(hub, id)) {
        const ran = (runs[deviceId]?.[tool] ?? 0) - (runsBefore[deviceId]?.[tool] ?? 0);
        expect(ran).toBeLessThanOrEqual(1);
        if (outcome === 'SUCCEEDED') expect(ran).toBe(1);
        expect(['SUCCEEDED', 'UNKNOWN']).toContain(outcome);
      }

      if (outageMs === LONG_OUTAGE_MS) expect(hub.log()).toContain('had lapsed and is revived');
      // No device had to connect again, and the hub knows what happened meanwhile.
      await online(hub, DEVICES);
      expect(await sessionsByDevice()).toEqual(sessionsBefore);
      await deviceThat(
        hub,
        leaver,
        (view) => view.presence === 'OFFLINE' && view.sessions[0]?.closeReason === 'connection_lost',
      );
      const arrived = await RawMqttDevice.connect(hub, newcomer);
      await deviceThat(hub, newcomer, isOnline);
      arrived.drop();
      await online(hub, DEVICES);
      expect((await fetch(`${hub.httpUrl}/health/ready`)).status).toBe(200);

      // New work is taken as before: calls at once, and jobs through a queue that has found its way
      // back.
      expect(await callTool(hub, { deviceId: '02:00:15:00:00:00', tool: 'self.get_device_status' })).toMatchObject({
        outcome: 'SUCCEEDED',
      });
      const next = await createJob(
        hub,
        { tool: 'self.get_device_status', arguments: {}, devices: { search: '02:00:15' } },
        `after-${how}-${outageMs}`,
      );
      expect(next.userErrors).toEqual([]);
      expect((await finished(hub, next.job?.id ?? '', 15_000)).progress.succeeded).toBeGreaterThanOrEqual(DEVICES);
    },
  );

  /** The last state that a client sees which follows the job. */
  async function stateAtEnd(jobId: string): Promise<string | undefined> {
    const client = new FlotillaClient({ url: hub.httpUrl, apiKey: hub.adminKey, webSocket: WebSocket });
    let last: string | undefined;
    try {
      for await (const { state } of client.followJob(jobId)) last = state;
      return last;
    } finally {
      client.close();
    }
  }

  /** Number of sessions that each device of the fleet has had. */
  async function sessionsByDevice(): Promise<Readonly<Record<string, number>>> {
    const query = '{ devices(first: 60) { nodes { id sessions(first: 5) { epoch } } } }';
    const { devices } = await ask<{ devices: { nodes: { id: string; sessions: unknown[] }[] } }>(hub, query);
    const ofFleet = devices.nodes.filter(({ id }) => id.startsWith('02:00:15'));
    return Object.fromEntries(ofFleet.map(({ id, sessions }) => [id, sessions.length]));
  }
});

/** Return code that a connection gets, which then ends. */
async function knock(hub: HubProcess, mac: string): Promise<number | undefined> {
  const device = await RawMqttDevice.dial(hub);
  const clientId = clientIdOf(mac);
  device.hello({ clientId, ...mqttLogin(hub.deviceSecret, clientId) });
  const code = await device.connack();
  device.drop();
  return code;
}
