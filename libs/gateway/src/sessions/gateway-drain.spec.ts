/** The drain of a gateway, as its devices and its callers see it. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerAsFirmware } from '../firmware.suite.js';
import { lampId, type GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import { TestVoiceServer } from '../voice/backend/voice-server.suite.js';

const SERVER_UNAVAILABLE = 3;
const hub = openSpecHub();
let stage: GatewayStage;

beforeEach(async () => {
  stage = await hub.openStage();
});
afterEach(() => stage.close());

const successorPlan = { withinMs: 20_000, hasSuccessor: () => true };
const lonelyPlan = { ...successorPlan, hasSuccessor: () => false };

/** The epoch of the lamp's last session, in all specs of this file. */
let lastEpoch = 0;

/** Connects the lamp and calls it; `answer` lets it answer. */
async function lampInACall() {
  const device = await stage.connectLamp();
  const { epoch } = await stage.entry(lastEpoch);
  lastEpoch = epoch;
  let waiting: string | undefined;
  device.answer = (text) => {
    waiting = answerAsFirmware(text);
    return undefined;
  };
  const settled = stage.call();
  await vi.waitFor(() => expect(waiting).toBeDefined());
  return { device, epoch, settled, answer: () => device.publish(waiting ?? '') };
}

describe('a gateway that drains', () => {
  it('finishes the call in flight, rejects further ones as moving, and closes the device then', async () => {
    const { device, epoch, settled, answer } = await lampInACall();
    const drained = stage.gateway.drain(successorPlan);
    expect(await stage.call()).toMatchObject({
      isMoving: true,
      outcome: { kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'UNAVAILABLE' } },
    });
    expect(device.isClosed).toBe(false);
    answer();
    expect((await settled).outcome.kind).toBe('SUCCEEDED');
    await drained;
    await device.closed();
    expect((await stage.event('device.disconnected')).data).toEqual({ reason: 'hub_stopping', epoch });
    // Its callers still find this gateway, and learn here that the device moves.
    expect(await stage.entry(epoch - 1)).toMatchObject({ epoch });
    expect(await stage.call()).toMatchObject({ isMoving: true });
  });

  it('leaves no directory entry where no other gateway can take the device', async () => {
    const { device, settled, answer } = await lampInACall();
    const drained = stage.gateway.drain(lonelyPlan);
    const refused = await stage.call();
    expect(refused).toMatchObject({ outcome: { kind: 'NOT_SENT', error: { code: 'UNAVAILABLE' } } });
    expect(refused.isMoving).toBeUndefined();
    answer();
    await Promise.all([settled, drained, device.closed()]);
    await stage.event('device.disconnected');
    expect(await hub.bus.directory.lookup(lampId)).toBeUndefined();
  });

  it('refuses new devices: CONNACK "server unavailable", 503 for a WebSocket', async () => {
    const drained = stage.gateway.drain(successorPlan);
    const device = await stage.connectLamp();
    expect(await device.connack()).toBe(SERVER_UNAVAILABLE);
    await expect(stage.connectTalkingLamp()).rejects.toThrow('503');
    await drained;
  });

  it('admits no device whose connection was accepted before', async () => {
    const device = await stage.connectLamp({ silentOn: ['initialize'] });
    await stage.gateway.drain(lonelyPlan);
    if (!device.isClosed) await once(device.conn, 'close');
    expect(stage.gateway.status().sessions).toEqual([]);
  });
});

describe('a gateway that drains without a successor', () => {
  let server: TestVoiceServer;

  beforeEach(async () => {
    await stage.close();
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
  afterEach(() => server.close());

  const ended = async () => (await stage.event('device.conversation', 2)).data;

  it('says goodbye to a device on MQTT that speaks, and records why the conversation ended', async () => {
    const device = await stage.connectLamp();
    lastEpoch = (await stage.entry(lastEpoch)).epoch;
    const spoken = () => device.messages.map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>);
    device.publish(JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } }));
    const hello = await vi.waitFor(() => {
      const found = spoken().find(({ type }) => type === 'hello');
      if (found === undefined) throw new Error('no answer yet');
      return found;
    });
    await stage.gateway.drain(lonelyPlan);
    await device.closed();
    expect(spoken().at(-1)).toEqual({ type: 'goodbye', session_id: hello['session_id'] });
    expect(await ended()).toMatchObject({ state: 'ended', reason: 'hub_stopping' });
    expect(stage.gateway.status().counts).toContainEqual({ name: 'voice_ended_hub_stopping', count: 1 });
  });

  it('closes the WebSocket of a device that speaks because the hub stops', async () => {
    const socket = await stage.connectTalkingLamp();
    lastEpoch = (await stage.entry(lastEpoch)).epoch;
    const closed = once(socket, 'close') as Promise<[code: number]>;
    await stage.gateway.drain(lonelyPlan);
    expect((await closed)[0]).toBe(1001);
    expect(await ended()).toMatchObject({ state: 'ended', reason: 'hub_stopping' });
    expect((await stage.event('device.disconnected')).data).toMatchObject({ reason: 'hub_stopping' });
  });
});
