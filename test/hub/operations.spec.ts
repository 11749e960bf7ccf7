/** What those who run the hub see of it: health and metrics, and who may see them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from '../src/devices/device-api.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, jobOf, online } from '../src/jobs/job-api.js';
import { metric, metricsText } from '../src/hub/metrics.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

describe('operations', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  beforeAll(async () => {
    hub = await startHub();
    // Every fourth device is one that connects over WebSocket.
    fleet = startFleet(hub, { devices: 8, transport: 'mixed', seed: 3 });
    await online(hub, 8);
  });
  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  it('says without a key that it is alive and ready', async () => {
    for (const path of ['live', 'ready']) {
      const response = await fetch(`${hub.httpUrl}/health/${path}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ status: 'ok' });
    }
  });

  it('has metrics of sessions, calls, queue, writers and the event loop', async () => {
    const [deviceId] = (
      await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices(first: 1) { nodes { id } } }')
    ).devices.nodes.map(({ id }) => id);
    await callTool(hub, { deviceId, tool: 'self.get_device_status' });
    await finished(
      hub,
      await jobOf(hub, { tool: 'self.get_device_status', arguments: {}, devices: { all: true } }, 'operations'),
    );
    expect(await metric(hub, 'flotilla_sessions', 'state="ready"', 'transport="MQTT"')).toBe(6);
    expect(await metric(hub, 'flotilla_sessions', 'state="ready"', 'transport="WEBSOCKET"')).toBe(2);
    expect(await metric(hub, 'flotilla_calls_total', 'origin="single"', 'outcome="SUCCEEDED"')).toBe(1);
    expect(await metric(hub, 'flotilla_calls_total', 'origin="job"', 'outcome="SUCCEEDED"')).toBe(8);
    expect(await metric(hub, 'flotilla_call_duration_seconds_count')).toBe(9);
    const text = await metricsText(hub);
    for (const writer of ['session_connecting', 'session_ready', 'session_closed', 'event', 'call']) {
      expect(text).toContain(`flotilla_writer_depth{writer="${writer}"}`);
      expect(text).toContain(`flotilla_writer_lag_seconds{writer="${writer}"}`);
      expect(text).toContain(`flotilla_writer_dropped_total{writer="${writer}"} 0`);
    }
    const others = [
      'flotilla_queue_depth',
      'flotilla_unproven_connections',
      'flotilla_nodejs_eventloop_lag_p99_seconds',
    ];
    expect(text).toContain('flotilla_webhook_deliveries_total{result="delivered"} 0');
    for (const name of [
      ...others,
      'flotilla_webhooks_paused',
      'flotilla_webhook_events_owed',
      'flotilla_webhook_oldest_owed_seconds',
    ])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
  });

  it('names no device in its metrics, however many there are', async () => {
    expect(await metricsText(hub)).not.toContain('02:00:03');
  });

  it('has metrics for a key only, also on this machine: a proxy there that adds no header looks the same', async () => {
    const refused = await fetch(`${hub.httpUrl}/metrics`);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await refused.json()).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await fetch(`${hub.httpUrl}/metrics`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
  });

  it('sends no HSTS over plain HTTP', async () => {
    expect((await fetch(`${hub.httpUrl}/`)).headers.get('strict-transport-security')).toBeNull();
  });
});

describe('with FLOTILLA_METRICS=loopback', () => {
  let hub: HubProcess;
  beforeAll(async () => {
    hub = await startHub({ env: { FLOTILLA_METRICS: 'loopback' } });
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  it('metrics are there for callers on this machine', async () => {
    expect((await fetch(`${hub.httpUrl}/metrics`)).status).toBe(200);
  });

  it.each(['x-forwarded-for', 'x-forwarded-server', 'forwarded', 'x-real-ip', 'via'])(
    'what a proxy passes on (%s) needs a key',
    async (header) => {
      const proxied = (authorization?: string) =>
        fetch(`${hub.httpUrl}/metrics`, {
          headers: { [header]: '203.0.113.7', ...(authorization && { authorization }) },
        });
      expect((await proxied()).status).toBe(401);
      expect((await proxied(`Bearer ${hub.adminKey}`)).status).toBe(200);
    },
  );
});
