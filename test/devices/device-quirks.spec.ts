/**
 * Deviations of devices from the protocol: each gets an accurate outcome, appears in metrics or
 * events, and never ends the connection.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { answerAsFirmware, answerTo, requestIn } from '../src/devices/firmware.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';
import { metric } from '../src/hub/metrics.js';
import { RawMqttDevice } from '../src/devices/raw-mqtt-device.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

/** Every fourth device of the fleet connects over WebSocket. */
const onMqtt = '02:00:09:00:00:00';
const onWebSocket = '02:00:09:00:00:03';
const DEVICES = 6;
const TOOL = 'self.get_device_status';

describe('a device with quirks', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;

  const behave = (device: string, behaviour: Readonly<Record<string, unknown>>) =>
    fleet.perform({ cmd: 'behaviour', device, behaviour });
  const call = (deviceId: string, timeoutMs = 5_000) => callTool(hub, { deviceId, tool: TOOL, timeoutMs });
  const anomalies = (name: string) => metric(hub, 'flotilla_gateway_events_total', `name="anomaly_${name}"`);
  const sessionsOf = async (deviceId: string) => (await viewDevice(hub, deviceId))?.sessions.length;

  /** The next call is answered on the same connection. */
  const expectUnharmed = async (deviceId: string, sessions: number | undefined) => {
    await behave(deviceId, { kind: 'normal' });
    expect(await call(deviceId)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(await sessionsOf(deviceId)).toBe(sessions);
  };

  beforeAll(async () => {
    hub = await startHub({ env: { FLOTILLA_DEVICE_URLS: 'https://files.example.net' } });
    fleet = startFleet(hub, { devices: DEVICES, transport: 'mixed', seed: 9 });
    await online(hub, DEVICES);
  });
  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled|callback_threw/i);
    removeDataDir(hub.dataDir);
  });

  describe.each([
    ['MQTT', onMqtt],
    ['WebSocket', onWebSocket],
  ])('over %s', (transport, device) => {
    it('is there', async () => {
      expect((await viewDevice(hub, device))?.sessions[0]?.transport).toBe(transport.toUpperCase());
    });

    it.each([
      [
        'answers with an error without code',
        { kind: 'errorWithoutCode', message: 'Value is below minimum allowed: 0' },
        'FAILED',
        'DEVICE_ERROR',
      ],
      ['cuts its reply off', { kind: 'malformedReply' }, 'FAILED', 'MALFORMED_REPLY'],
      ['pastes a text unescaped into its error', { kind: 'unescapedError' }, 'FAILED', 'MALFORMED_REPLY'],
    ])('%s', async (_what, behaviour, outcome, code) => {
      const sessions = await sessionsOf(device);
      await behave(device, { ...behaviour, method: 'tools/call', times: 1 });
      expect(await call(device)).toMatchObject({ outcome, error: { code } });
      await expectUnharmed(device, sessions);
    });

    it('never answers', async () => {
      const sessions = await sessionsOf(device);
      await behave(device, { kind: 'silent', method: 'tools/call', times: 1 });
      expect(await call(device, 1_000)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'TIMEOUT' } });
      await expectUnharmed(device, sessions);
    });

    it('answers twice', async () => {
      const sessions = await sessionsOf(device);
      const before = await anomalies('duplicate_reply');
      await behave(device, { kind: 'duplicateReply', method: 'tools/call', times: 1 });
      expect(await call(device)).toMatchObject({ outcome: 'SUCCEEDED' });
      await eventually(
        () => anomalies('duplicate_reply'),
        (count) => count === before + 1,
      );
      await expectUnharmed(device, sessions);
    });

    it('answers out of order', async () => {
      const sessions = await sessionsOf(device);
      await behave(device, { kind: 'outOfOrder', ms: 300, method: 'tools/call', times: 1 });
      const answers = await Promise.all([call(device), call(device), call(device)]);
      expect(answers.map(({ outcome }) => outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
      await expectUnharmed(device, sessions);
    });

    it('answers after the call has ended', async () => {
      const sessions = await sessionsOf(device);
      const before = (await eventsOf(hub, device, 'call.answered_late')).length;
      await behave(device, { kind: 'lateReply', ms: 1_500, method: 'tools/call', times: 1 });
      expect(await call(device, 1_000)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'TIMEOUT' } });
      const late = await eventually(
        () => eventsOf(hub, device, 'call.answered_late'),
        (events) => events.length === before + 1,
      );
      expect(late.at(-1)).toMatchObject({ outcome: 'SUCCEEDED' });
      await expectUnharmed(device, sessions);
    });

    it('is slow', async () => {
      const sessions = await sessionsOf(device);
      await behave(device, { kind: 'slow', ms: 700, method: 'tools/call', times: 2 });
      const [first, second] = await Promise.all([call(device), call(device)]);
      expect([first.outcome, second.outcome]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
      await expectUnharmed(device, sessions);
    });

    it('loses the connection during a call', async () => {
      await behave(device, { kind: 'disconnectInCall', times: 1 });
      expect(await call(device)).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
      // A busy hub may see the next connection before the end of the lost one.
      const reasons = ['connection_lost', 'taken_over'];
      await deviceThat(
        hub,
        device,
        (view) => isOnline(view) && reasons.includes(view.sessions[1]?.closeReason ?? 'none'),
      );
      await expectUnharmed(device, await sessionsOf(device));
    });

    it('sends a notification, which becomes an event', async () => {
      const sessions = await sessionsOf(device);
      await behave(device, { kind: 'notification', method: 'notifications/battery', params: { level: 7 } });
      const events = await eventually(
        () => eventsOf(hub, device, 'device.notification'),
        (found) => found.length > 0,
      );
      expect(events).toEqual([{ method: 'notifications/battery', params: { level: 7 } }]);
      await expectUnharmed(device, sessions);
    });

    it.each(['repeatingCursor', 'neverEndingPages'])(
      'lists its tools with %s: the received part is kept and marked as incomplete',
      async (kind) => {
        const before = await anomalies('listing_incomplete');
        await behave(device, { kind, method: 'tools/list' });
        const refresh = 'mutation ($id: ID!) { refreshTools(deviceId: $id) { userErrors { code } } }';
        expect(await ask(hub, refresh, { id: device })).toEqual({ refreshTools: { userErrors: [] } });
        const { tools } = await deviceThat(hub, device, ({ toolsStale }) => toolsStale);
        expect(tools.length).toBeGreaterThan(0);
        expect(tools.length).toBeLessThanOrEqual(512);
        expect(await anomalies('listing_incomplete')).toBeGreaterThan(before);
        await behave(device, { kind: 'normal' });
        await ask(hub, refresh, { id: device });
        await deviceThat(hub, device, (view) => !view.toolsStale && view.tools.some(({ name }) => name === TOOL));
      },
    );
  });

  it('loses large messages: the hub reports it, sends no more of them, and a restart ends it', async () => {
    const url = `https://files.example.net/${'x'.repeat(900)}`;
    const large = () =>
      callTool(hub, { deviceId: onMqtt, tool: 'self.assets.set_download_url', arguments: { url }, timeoutMs: 1_000 });
    expect(await large()).toMatchObject({ outcome: 'SUCCEEDED' });
    await behave(onMqtt, { kind: 'losesLargeMessages' });
    expect(await large()).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'TIMEOUT' } });
    expect(await call(onMqtt)).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(await large()).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'LARGE_MESSAGES_LOST' } });
    expect(await large()).toMatchObject({ outcome: 'NOT_SENT', error: { code: 'LARGE_MESSAGES_LOST' } });
    // Events are written in batches, after the answer of the call.
    await expect
      .poll(() => eventsOf(hub, onMqtt, 'device.large_messages_lost'))
      .toMatchObject([{ unanswered: 2, largerThanBytes: 900 }]);
    const before = await sessionsOf(onMqtt);
    await callTool(hub, { deviceId: onMqtt, tool: 'self.reboot', timeoutMs: 20_000 });
    await deviceThat(hub, onMqtt, (view) => isOnline(view) && view.sessions.length === (before ?? 0) + 1);
    expect(await large()).toMatchObject({ outcome: 'SUCCEEDED' });
  });

  it('restarts like firmware of its age, and comes back', async () => {
    const ages = [
      // Older firmware answers before it restarts; newer never does.
      { age: 'detached', device: '02:00:09:00:00:02', answer: { outcome: 'SUCCEEDED' } },
      { age: 'immediate', device: '02:00:09:00:00:04', answer: { outcome: 'SUCCEEDED' } },
      { age: 'queued', device: onMqtt, answer: { outcome: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } } },
    ];
    const reboot = async ({ age, device, answer }: (typeof ages)[number]) => {
      await behave(device, { kind: 'rebootAs', age });
      const before = await sessionsOf(device);
      expect(await callTool(hub, { deviceId: device, tool: 'self.reboot', timeoutMs: 20_000 })).toMatchObject(answer);
      await deviceThat(hub, device, (view) => isOnline(view) && view.sessions.length === (before ?? 0) + 1);
      expect(await call(device)).toMatchObject({ outcome: 'SUCCEEDED' });
    };
    await Promise.all(ages.map(reboot));
  });

  it('answers requests that were never sent', async () => {
    const mac = '02:00:00:00:03:01';
    const device = await RawMqttDevice.connect(hub, mac);
    device.answer = (text) => {
      const request = requestIn(text);
      if (request?.method !== 'tools/call') return answerAsFirmware(text);
      for (const id of [0, -1, 1.5, 2 ** 31, request.id + 1, request.id - 1])
        device.say(answerTo({ id }, { content: [{ type: 'text', text: 'stray' }] }));
      device.say(JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: String(request.id), result: {} } }));
      device.say(JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: null, result: {} } }));
      return answerAsFirmware(text);
    };
    await deviceThat(hub, mac, isOnline);
    const before = await anomalies('unknown_reply_id');
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({
      outcome: 'SUCCEEDED',
      result: { text: 'did self.lamp.turn_on' },
    });
    expect(await anomalies('unknown_reply_id')).toBeGreaterThanOrEqual(before + 2);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect(await sessionsOf(mac)).toBe(1);
    device.drop();
  });

  it.each([
    ['neither result nor error', {}],
    ['both result and error', { result: { content: [] }, error: { message: 'x' } }],
    ['a result that is null', { result: null }],
    ['an error that is a string', { error: 'broken' }],
  ])('answers with %s, which fails only that call', async (_what, members) => {
    const mac = '02:00:00:00:03:02';
    const device = await RawMqttDevice.connect(hub, mac);
    let isOdd = true;
    device.answer = (text) => {
      const request = requestIn(text);
      if (request?.method !== 'tools/call' || !isOdd) return answerAsFirmware(text);
      isOdd = false;
      return JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', id: request.id, ...members } });
    };
    await deviceThat(hub, mac, isOnline);
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on', timeoutMs: 3_000 })).toMatchObject({
      outcome: 'FAILED',
    });
    expect(await callTool(hub, { deviceId: mac, tool: 'self.lamp.turn_on' })).toMatchObject({ outcome: 'SUCCEEDED' });
    device.drop();
    await deviceThat(hub, mac, ({ presence }) => presence === 'OFFLINE');
  });
});
