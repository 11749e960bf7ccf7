import { afterEach, expect, it, vi } from 'vitest';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';

const hub = openSpecHub();
let stage: GatewayStage;

afterEach(() => stage.close());

it('writes a limited number of events about the conversations of a device, and counts the others', async () => {
  const voice = {
    ...{ known: [], checksAddress: true, serversOf: () => Promise.reject(new Error('not now')) },
    calls: { callTool: () => Promise.reject(new Error('no calls')) },
    report: () => Promise.resolve(),
  };
  stage = await hub.openStage({ voice, limits: { conversationEventsPerMinuteMax: 3, reconnectsMax: 0 } });
  const device = await stage.connectLamp();
  await stage.entry();
  const answers = () => device.messages.filter((text) => text.includes('"udp"')).length;
  for (let hello = 1; hello <= 8; hello += 1) {
    device.publish(JSON.stringify({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } }));
    await vi.waitFor(() => expect(answers()).toBe(hello));
  }
  const counts = stage.gateway.status().counts;
  expect(counts).toContainEqual({ name: 'voice_unavailable', count: 8 });
  expect(counts).toContainEqual({ name: 'anomaly_conversation_events_dropped', count: 5 });
  await stage.event('device.conversation', 3);
  expect(stage.events.filter(({ type }) => type === 'device.conversation')).toHaveLength(3);
});
