import type { DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answerAsFirmware } from '../firmware.suite.js';
import { lampId } from '../gateway-stage.suite.js';
import type { GatewayStage } from '../gateway-stage.suite.js';
import { openSpecHub } from '../spec-hub.suite.js';
import { LargeRequestMemory } from './large-request-memory.js';

const lamp = '02:00:00:00:00:01' as DeviceId;
const suspected = { unanswered: 1, isAlive: false, trialAt: undefined };

function memoryWith(reason: 'connection_lost' | 'device_closed') {
  const clock = new ManualClock(1);
  const memory = new LargeRequestMemory(clock);
  memory.keep(lamp, suspected, reason);
  return { clock, memory };
}

describe('what is known of large requests', () => {
  it('outlives a lost link, for one next session', () => {
    const { memory } = memoryWith('connection_lost');
    expect(memory.take(lamp)).toEqual(suspected);
    expect(memory.take(lamp)).toBeUndefined();
  });

  it('is forgotten where the firmware has rebuilt its client', () => {
    const { clock, memory } = memoryWith('connection_lost');
    clock.advance(60_001);
    expect(memory.take(lamp)).toBeUndefined();
  });

  it('is forgotten where the device restarts on purpose, or has asked at its OTA address', () => {
    expect(memoryWith('device_closed').memory.take(lamp)).toBeUndefined();
    const { memory } = memoryWith('connection_lost');
    memory.forget(lamp);
    expect(memory.take(lamp)).toBeUndefined();
  });

  it('is not kept of a device that lost nothing', () => {
    const memory = new LargeRequestMemory(new ManualClock(1));
    memory.keep(lamp, { ...suspected, unanswered: 0 }, 'connection_lost');
    expect(memory.take(lamp)).toBeUndefined();
  });
});

describe('a device that loses large requests', () => {
  const hub = openSpecHub();
  let stage: GatewayStage;

  beforeEach(async () => {
    stage = await hub.openStage();
  });

  afterEach(() => stage.close());

  const call = async (bytes: number) => {
    const call = { ...stage.newCall(), arguments: { text: 'x'.repeat(bytes) }, callTimeoutMs: 500 };
    const { outcome } = await stage.call({ call });
    return outcome.error?.code ?? outcome.kind;
  };

  it('receives them again after a restart, also if its connection was lost without notice', async () => {
    const before = await stage.connectLamp();
    before.answer = (text) => (text.length > 900 ? undefined : answerAsFirmware(text));
    const { epoch } = await stage.entry();
    expect([await call(1_000), await call(1_000), await call(1)]).toEqual(['TIMEOUT', 'TIMEOUT', 'SUCCEEDED']);
    expect(await call(1_000)).toBe('LARGE_MESSAGES_LOST');
    const isHeard = new Promise((resolve) => onTestFinished(hub.bus.feed.subscribe('restarted', resolve)));
    hub.bus.feed.publish('restarted', { deviceId: lampId });
    await isHeard;
    await stage.connectLamp();
    await stage.entry(epoch);
    expect(await call(1_000)).toBe('SUCCEEDED');
  });
});
