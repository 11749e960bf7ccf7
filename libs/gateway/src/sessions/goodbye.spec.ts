/** A device in conversation whose session ends: over MQTT only a goodbye frees it. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lampId, type GatewayStage } from '../gateway-stage.suite.js';
import type { MqttDevice } from '../mqtt/mqtt-device.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import { TestVoiceServer } from '../voice/backend/voice-server.suite.js';

const hub = openSpecHub();
let server: TestVoiceServer;
let stage: GatewayStage;

beforeEach(async () => {
  server = await TestVoiceServer.open();
  const rights = { credential: undefined, isListed: true, mayCallUserOnly: false, guard: undefined };
  const voice = {
    known: [],
    checksAddress: true,
    serversOf: () => Promise.resolve([{ url: server.url, ...rights }]),
    calls: { callTool: () => Promise.reject(new Error('no calls')) },
    report: () => Promise.resolve(),
  };
  stage = await hub.openStage({ voice });
});
afterEach(async () => {
  await stage.close();
  await server.close();
});

const ended = async () => (await stage.event('device.conversation', 2)).data;
const spokenTo = ({ messages }: MqttDevice) =>
  messages.map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>);

/** Connects the lamp over MQTT, and resolves to the session id of its conversation. */
async function converse() {
  const device = await stage.connectLamp();
  device.publish(JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } }));
  const hello = await vi.waitFor(() => {
    const found = spokenTo(device).find(({ type }) => type === 'hello');
    if (found === undefined) throw new Error('no answer yet');
    return found;
  });
  return { device, sessionId: hello['session_id'] };
}

describe('a device that speaks', () => {
  it.each([
    ['disconnects it', () => stage.gateway.callServer.disconnect(lampId)],
    ['removes it', () => hub.bus.feed.publish('expelled', { deviceId: lampId })],
  ])('over MQTT gets a goodbye when an operator %s', async (_what, act) => {
    const { device, sessionId } = await converse();
    act();
    await device.closed();
    expect(spokenTo(device).at(-1)).toEqual({ type: 'goodbye', session_id: sessionId });
    expect(await ended()).toMatchObject({ state: 'ended', reason: 'hub_closed' });
  });

  it.each([
    ['after it was lost', (device: MqttDevice) => device.conn.destroy()],
    ['beside one that looks alive', () => undefined],
  ])('over MQTT gets a goodbye on its next connection %s', async (_what, lose) => {
    const { device, sessionId } = await converse();
    lose(device);
    const next = await stage.connectLamp();
    await vi.waitFor(() => expect(spokenTo(next)[0]).toEqual({ type: 'goodbye', session_id: sessionId }));
    expect(await ended()).toMatchObject({ state: 'ended', reason: 'device_gone' });
    await vi.waitFor(() => expect(stage.gateway.status().sessions).toMatchObject([{ state: 'ready' }]));
  });

  it('over WebSocket is disconnected', async () => {
    const socket = await stage.connectTalkingLamp();
    await stage.event('device.conversation');
    const closed = once(socket, 'close') as Promise<[code: number, reason: Buffer]>;
    stage.gateway.callServer.disconnect(lampId);
    expect(String((await closed)[1])).toBe('hub_closed');
    expect(await ended()).toMatchObject({ state: 'ended', reason: 'hub_closed' });
  });
});
