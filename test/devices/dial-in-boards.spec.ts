/**
 * Microcontrollers that connect to the hub themselves: registered, given a credential, connected,
 * listed, called, disconnected; and how the hub treats unknown and faulty boards.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, deviceThat, eventsOf, isOnline, viewDevice } from '../src/devices/device-api.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { handshake, statusOf } from '../src/api/http-status.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { metric } from '../src/hub/metrics.js';
import { changeDevice } from '../src/devices/provisioning-api.js';
import { startBoards, type SimulatedBoards } from '../src/devices/simulated-boards.js';

type Settings = Readonly<Record<string, string | number>>;

describe('microcontrollers that dial in', () => {
  let hub: HubProcess;
  let boards: SimulatedBoards;

  const register = async (deviceId: string, transport: string, more = {}) => {
    const query = `mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) {
      device { dialect reachability } credential userErrors { code path message } } }`;
    const input = { deviceId, transport, dialect: 'MCPU', tags: [], ...more };
    const { registerDevice } = await ask<{
      registerDevice: { device: unknown; credential: Settings; userErrors: readonly unknown[] };
    }>(hub, query, { input });
    return registerDevice;
  };
  const call = (deviceId: string, tool: string, args = {}) => callTool(hub, { deviceId, tool, arguments: args });
  const viewOf = async (deviceId: string) => (await boards.views()).find(({ address }) => address === deviceId);
  const gone = (deviceId: string, reason: string) =>
    eventually(
      () => eventsOf(hub, deviceId, 'device.disconnected'),
      (events) => events.some((event) => event['reason'] === reason),
      20_000,
    );

  beforeAll(async () => {
    hub = await startHub();
    boards = await startBoards({ boards: 0, reconnectMs: 100 });
  });

  afterAll(async () => {
    await boards.stop();
    await hub.stop();
    removeDataDir(hub.dataDir);
  });

  it.each(['WEBSOCKET', 'MQTT'])('are registered, connect over %s, are called and disconnect', async (transport) => {
    const id = `bed-${transport.toLowerCase()}`;
    const { device, credential, userErrors } = await register(id, transport);
    expect([device, userErrors]).toEqual([{ dialect: 'MCPU', reachability: 'ALWAYS' }, []]);
    boards.dialIn(credential);
    const { tools, sessions } = await deviceThat(hub, id, isOnline);
    expect(sessions[0]?.transport).toBe(transport);
    expect(tools.find(({ name }) => name === 'gpio_write')).toMatchObject({ schemaKnown: true });
    const lamp = { ESP32: 2, AVR: 13, GENERIC: 5 }[(await viewOf(id))?.profile.toUpperCase() ?? ''];
    expect(await call(id, 'gpio_write', { pin: lamp, value: true })).toMatchObject({ outcome: 'SUCCEEDED' });
    expect((await viewOf(id))?.outputs).toMatchObject({ lamp: true });
    expect(await call(id, 'gpio_write', { pin: 99, value: true })).toMatchObject({
      error: { code: 'ARGUMENTS_INVALID' },
    });
    boards.reset(id);
    await gone(id, 'connection_lost');
    await deviceThat(hub, id, ({ sessions: all, presence }) => all.length === 2 && presence === 'ONLINE');
    await eventually(
      () => eventsOf(hub, id, 'device.outputs_reset'),
      (events) => events.length === 1,
    );
    expect(await changeDevice(hub, 'removeDevice', id)).toEqual([]);
    await eventually(
      () => viewOf(id),
      (view) => (view?.refusals ?? 0) > 0,
    );
    expect(await viewDevice(hub, id)).toBeNull();
  });

  it('have one session: the newer connection ends the older', async () => {
    const { credential } = await register('twin', 'WEBSOCKET');
    boards.dialIn(credential);
    await deviceThat(hub, 'twin', isOnline);
    boards.dialIn(credential);
    await gone('twin', 'taken_over');
    // The end of one session and the start of the next are two writes.
    await deviceThat(
      hub,
      'twin',
      (view) => isOnline(view) && view.sessions.filter(({ disconnectedAt }) => disconnectedAt === null).length === 1,
    );
    await changeDevice(hub, 'removeDevice', 'twin');
  });

  it.each([
    ['WEBSOCKET', { token: 'wrong' }, 'refusal_credentials_wrong'],
    ['MQTT', { password: 'wrong' }, 'refusal_credentials_wrong'],
    ['MQTT', { client_id: 'mcpu@@@someone-else' }, 'refusal_credentials_wrong'],
  ])('with a wrong credential over %s are rejected, counted and reported', async (transport, change, counted) => {
    const id = `wrong-${Object.keys(change)[0]}`.replaceAll('_', '-');
    const { credential } = await register(id, transport);
    const before = await metric(hub, 'flotilla_gateway_events_total', `name="${counted}"`);
    boards.dialIn({ ...credential, ...change });
    await eventually(
      () => metric(hub, 'flotilla_gateway_events_total', `name="${counted}"`),
      (now) => now > before,
    );
    expect((await viewDevice(hub, id))?.sessions).toEqual([]);
    await eventually(
      () => eventsOf(hub, id, 'device.auth_refused'),
      (events) => events.length === 1,
    );
    await changeDevice(hub, 'removeDevice', id);
  });

  it('are admitted at /mcpu/v1/ by their own token only', async () => {
    const [token, otherToken] = [
      (await register('bed-1', 'WEBSOCKET')).credential['token'],
      (await register('bed-2', 'WEBSOCKET')).credential['token'],
    ];
    const removedToken = (await register('bed-0', 'WEBSOCKET')).credential['token'];
    await changeDevice(hub, 'removeDevice', 'bed-0');
    const board = { ...handshake, 'device-id': 'bed-1', authorization: `Bearer ${String(token)}` };
    const attempts: readonly (readonly [string, OutgoingHttpHeaders, number])[] = [
      ['none', { authorization: '' }, 401],
      ['a wrong token', { authorization: `Bearer ${String(token)}x` }, 401],
      ["another board's token", { authorization: `Bearer ${String(otherToken)}` }, 401],
      ["another board's id, which was never seen", { 'device-id': 'bed-2' }, 401],
      [
        'the token of a board that was removed',
        { 'device-id': 'bed-0', authorization: `Bearer ${String(removedToken)}` },
        401,
      ],
      ["the admin's key", { authorization: `Bearer ${hub.adminKey}` }, 401],
      ["the fleet's secret", { authorization: `Bearer ${hub.deviceSecret}` }, 401],
      ['an unknown board', { 'device-id': 'bed-3' }, 401],
      ['a MAC', { 'device-id': '02:5e:7a:10:c4:9f' }, 400],
      ['no id', { 'device-id': '' }, 400],
    ];
    const answerTo = (path: string, headers: OutgoingHttpHeaders) => statusOf(hub, { path, headers });
    for (const [what, headers, status] of attempts)
      expect(await answerTo('/mcpu/v1/', { ...board, ...headers }), what).toBe(status);
    expect(await answerTo(`/mcpu/v1/?device-id=bed-1&token=${String(token)}`, handshake)).toBe(401);
    expect(await answerTo('/xiaozhi/v1/', { ...board, 'client-id': 'x' })).toBe(400);
    expect(await answerTo('/mcpu/v1/', board)).toBe(101);
  });

  it('that are silent, garbled, flooding or closing are disconnected without effect on others', async () => {
    const { credential } = await register('good', 'MQTT');
    boards.dialIn(credential);
    await deviceThat(hub, 'good', isOnline);
    for (const fault of ['mute', 'garbage', 'flooding', 'closing']) {
      for (const transport of ['WEBSOCKET', 'MQTT']) {
        const { credential: bad } = await register(`${fault}-${transport.toLowerCase()}`, transport);
        boards.dialIn(bad, fault);
      }
    }
    for (const transport of ['websocket', 'mqtt']) {
      await gone(`mute-${transport}`, 'greeting_failed');
      await gone(`garbage-${transport}`, 'greeting_failed');
      await eventually(
        () => eventsOf(hub, `flooding-${transport}`, 'device.throttled'),
        (events) => events.length > 0,
      );
    }
    for (let times = 0; times < 5; times += 1)
      expect(await call('good', 'get_info')).toMatchObject({ outcome: 'SUCCEEDED' });
    expect((await viewOf('good'))?.connections).toBe(1);
  });

  it.each([
    [
      'an address for a board that connects itself',
      { transport: 'MQTT', address: '127.0.0.1:3000' },
      ['input', 'address'],
    ],
    ['no address for one that is dialled', { transport: 'TCP' }, ['input', 'address']],
    ['a MAC as id', { transport: 'MQTT', deviceId: '02:5e:7a:10:c4:9f' }, ['input', 'deviceId']],
  ])('are rejected %s', async (_what, input, path) => {
    const { userErrors } = await register('refused', input.transport, input);
    expect(userErrors).toMatchObject([{ code: 'INVALID', path }]);
  });
});
