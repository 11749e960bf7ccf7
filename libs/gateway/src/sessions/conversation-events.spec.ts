import { afterEach, expect, it, vi } from 'vitest';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;

afterEach(() => stage.close());

const voice = {
  known: [],
  checksAddress: true,
  serversOf: () => Promise.reject(new Error('not now')),
  calls: { callTool: () => Promise.reject(new Error('no calls')) },
  report: () => Promise.resolve(),
};
const hello = JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } });

/** Says hello so often, each time after the answer to the one before. */
async function converse(device: Awaited<ReturnType<typeof stage.connectLamp>>, times: number): Promise<void> {
  for (let count = 1; count <= times; count += 1) {
    device.publish(hello);
    await vi.waitFor(() => expect(device.messages.filter((text) => text.includes('"udp"'))).toHaveLength(count));
  }
}

it('opens a limited number of conversations of a device, and counts the hellos that it drops', async () => {
  const serversOf = vi.fn(voice.serversOf);
  stage = await hub.openStage({ voice: { ...voice, serversOf }, limits: { reconnectsMax: 0 } });
  const device = await stage.connectLamp();
  await stage.entry();
  // More often than a person wakes and aborts a device.
  await converse(device, 20);
  for (let count = 1; count <= 80; count += 1) device.publish(hello);
  const dropped = () => stage.gateway.status().counts.find(({ name }) => name === 'anomaly_hellos_dropped')?.count ?? 0;
  await vi.waitFor(() => expect(serversOf.mock.calls.length + dropped()).toBe(100));
  // Some time passes, in which the bucket refills a little.
  expect(serversOf.mock.calls.length).toBeLessThan(80);
});

it('writes a limited number of events about the conversations of a device, and counts the others', async () => {
  stage = await hub.openStage({ voice, limits: { conversationEventsPerMinuteMax: 3, reconnectsMax: 0 } });
  const device = await stage.connectLamp();
  await stage.entry();
  await converse(device, 8);
  const counts = stage.gateway.status().counts;
  expect(counts).toContainEqual({ name: 'voice_unavailable', count: 8 });
  expect(counts).toContainEqual({ name: 'anomaly_conversation_events_dropped', count: 5 });
  await stage.event('device.conversation', 3);
  expect(stage.events.filter(({ type }) => type === 'device.conversation')).toHaveLength(3);
});
