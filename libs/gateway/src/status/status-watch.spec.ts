import type { CallId } from '@flotilla/mcp';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import type { GatewayLimits } from '../gateway-limits.js';

const STATUS = 'self.get_device_status';
const SET = 'self.audio_speaker.set_volume';
const volume = (level: number) =>
  JSON.stringify({ audio_speaker: { volume: level }, chip: { temperature: 40 + level / 10 } });

const hub = openSpecHub();
let stage: GatewayStage;
let texts: Record<string, string>;

beforeEach(() => {
  texts = { [STATUS]: volume(70) };
});

afterEach(async () => {
  await stage.close();
  // The next test begins with a device that has reported nothing.
  const epoch = (await hub.registry.devices.find(lampId))?.epoch ?? 0;
  await hub.registry.devices.report({ deviceId: lampId, epoch, tool: STATUS, state: {}, at: Date.now() });
});

const open = async (limits: Partial<GatewayLimits>) => {
  const everyStage = { retryDelayMs: 10, closingTimeoutMs: 50, statusIntervalSeconds: 0, statusFollowUpMs: 20 };
  stage = await hub.openStage({ limits: { ...everyStage, ...limits } });
};
const call = (tool: string) =>
  stage.call({
    call: {
      callId: '01932f3e-0000-7000-8000-000000000001' as CallId,
      tool,
      arguments: {},
      queueDeadlineAt: Date.now() + 2_000,
      callTimeoutMs: 2_000,
    },
  });
const callsOnRecord = async () => (await hub.registry.calls.page({ deviceId: lampId }, { first: 10 })).rows;

describe('the state of a device', () => {
  it('is asked for by plan, kept, and an event when it changed; nothing of that is a call on record', async () => {
    await open({ statusIntervalSeconds: 1 });
    await stage.connectLamp({ tools: [STATUS], texts });
    const first = await vi.waitFor(() => stage.event('device.state_changed'), 5_000);
    expect(first.data).toMatchObject({
      tool: STATUS,
      changes: expect.arrayContaining([{ path: 'audio_speaker.volume', from: null, to: 70 }]),
    });
    texts[STATUS] = volume(30);
    const { data } = await vi.waitFor(() => stage.event('device.state_changed', 2), 5_000);
    expect(data).toEqual({ tool: STATUS, changes: [{ path: 'audio_speaker.volume', from: 70, to: 30 }] });
    const row = await hub.registry.devices.find(lampId);
    expect(row?.reportedState).toEqual({ [STATUS]: JSON.parse(volume(30)) });
    expect(row?.reportedStateAt).toBeGreaterThan(Date.now() - 60_000);
    expect(await callsOnRecord()).toEqual([]);
  }, 15_000);

  it('is asked for after a tool that set something, as a call of the hub', async () => {
    await open({});
    await stage.connectLamp({ tools: [STATUS, SET], texts });
    await stage.entry();
    expect((await call(SET)).outcome.kind).toBe('SUCCEEDED');
    await stage.event('device.state_changed');
    await vi.waitFor(async () =>
      expect(await callsOnRecord()).toMatchObject([{ tool: STATUS, outcome: 'SUCCEEDED', actor: 'hub' }]),
    );
  });

  it('is stored after calls of any caller, and repeated it causes no event', async () => {
    await open({});
    await stage.connectLamp({ tools: [STATUS], texts });
    await stage.entry();
    await call(STATUS);
    await stage.event('device.state_changed');
    await call(STATUS);
    texts[STATUS] = volume(71);
    await call(STATUS);
    expect((await stage.event('device.state_changed', 2)).data).toMatchObject({ changes: [{ from: 70, to: 71 }] });
  });

  it.each([
    ['no JSON', 'off'],
    ['no object', '[1]'],
    ['too large', JSON.stringify({ a: 'x'.repeat(5_000) })],
  ])('is not what is %s', async (_what, text) => {
    await open({});
    texts[STATUS] = text;
    await stage.connectLamp({ tools: [STATUS], texts });
    await stage.entry();
    await call(STATUS);
    texts[STATUS] = volume(5);
    await call(STATUS);
    expect((await stage.event('device.state_changed')).data).toMatchObject({ changes: [{ to: 5 }] });
    expect((await hub.registry.devices.find(lampId))?.reportedState).toEqual({ [STATUS]: JSON.parse(volume(5)) });
  });

  it('is not asked for where the device has no tool for it', async () => {
    await open({ statusIntervalSeconds: 1 });
    const device = await stage.connectLamp({ tools: ['self.lamp.turn_on'], texts });
    await stage.entry();
    const asked = device.messages.length;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(device.messages).toHaveLength(asked);
  });
});

describe('a board that registers its tools after it has connected', () => {
  it('is listed again once, and keeps the tools that it had meanwhile', async () => {
    await open({});
    const before = await stage.connectLamp({ tools: [SET] });
    const { epoch, toolSetHash } = await stage.entry();
    before.conn.destroy();
    await stage.event('device.disconnected');
    await stage.close();
    await open({ listingRetryMs: 300 });
    const tools: string[] = [];
    const device = await stage.connectLamp({ tools });
    expect((await stage.entry(epoch)).toolSetHash).toBe(toolSetHash);
    expect(await hub.registry.devices.find(lampId)).toMatchObject({
      toolSetHash,
      toolsStale: true,
      presence: 'ONLINE',
    });
    tools.push(SET, STATUS);
    expect((await stage.event('tools.changed')).data).toMatchObject({ added: [STATUS], removed: [] });
    expect((await hub.registry.devices.find(lampId))?.toolsStale).toBe(false);
    const listings = device.messages.filter((text) => text.includes('tools/list'));
    expect(listings).toHaveLength(2);
  });

  it('has no tools where the second list is empty, too', async () => {
    await open({ listingRetryMs: 20 });
    const device = await stage.connectLamp({ tools: [] });
    await stage.event('tools.changed');
    expect(await hub.registry.devices.find(lampId)).toMatchObject({ toolsStale: false });
    expect(device.messages.filter((text) => text.includes('tools/list'))).toHaveLength(2);
  });
});
