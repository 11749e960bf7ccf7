import type { CallId, DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { GatewayCounters } from '../gateway-counters.js';
import { defaultGatewayLimits } from '../gateway-limits.js';
import { LookQueue } from './look-queue.js';
import type { StatusPlan } from './look-queue.js';
import { StatusWatch } from './status-watch.js';
import type { WatchedSession } from './watched-session.js';

const callId = '01932f3e-0000-7000-8000-000000000001' as CallId;
const SET = { callId, tool: 'self.audio_speaker.set_volume', arguments: {}, queueDeadlineAt: 0, callTimeoutMs: 0 };

/** A watch over sessions that never answer what it asks; `looks` are the devices that it asked. */
function watched(count: number, { statusIntervalSeconds = 0 } = {}) {
  const looks: DeviceId[] = [];
  const clock = new ManualClock(1_000);
  const limits = { ...defaultGatewayLimits, statusIntervalSeconds, statusCallsMax: 100_000 };
  const unused = () => Promise.reject(new Error('nothing is answered, so nothing is written'));
  const registry = {
    calls: { record: unused, isOverloaded: false },
    devices: { report: unused },
    events: { append: unused },
  };
  const watch = new StatusWatch({
    clock,
    limits,
    logger: silentLogger,
    counters: new GatewayCounters(),
    registry: registry as never,
    bus: { feed: { publish: () => undefined } },
  });
  const outcome = { kind: 'SUCCEEDED', certainty: 'YES', result: { content: [], isError: false } } as const;
  const sessions = Array.from({ length: count }, (_, number): WatchedSession => {
    const deviceId = `device-${number}` as DeviceId;
    const session = { state: 'ready', enqueue: () => void looks.push(deviceId) } as never;
    return {
      deviceId,
      session,
      record: { epoch: 1, superseded: () => undefined },
      statusTool: 'self.get_device_status',
    };
  });
  const setAll = (): void => {
    for (const session of sessions) watch.settled(session, SET, { callId, outcome, settledAt: clock.now() });
  };
  return { clock, limits, looks, sessions, setAll, watch };
}

describe('looks by plan', () => {
  it('leave their turns to the devices that can be asked', () => {
    const { clock, limits, looks, sessions, watch } = watched(100, { statusIntervalSeconds: 1 });
    const board = { ...sessions[0], statusTool: undefined } as WatchedSession;
    for (let number = 0; number < limits.statusCallsPerSecondMax; number += 1)
      watch.add({ ...board, deviceId: `board-${number}` as DeviceId });
    for (const session of sessions) watch.add(session);
    watch.start();
    clock.advance(1_000);
    watch.stop();
    expect(looks).toHaveLength(100);
  });
});

function planOf(name: string): StatusPlan {
  const session = { deviceId: name } as never;
  return { session, isPlanned: false, isSetAgain: false, at: 0, left: 0, due: undefined };
}

describe('looks after a set', () => {
  it('are made at once where the hub has little to do', () => {
    const { clock, limits, looks, setAll } = watched(150);
    setAll();
    clock.advance(limits.statusFollowUpMs);
    expect(looks).toHaveLength(150);
  });

  it('are few from the moment on when many calls are answered, not from the next second on', () => {
    const { clock, limits, looks, setAll } = watched(2 * defaultGatewayLimits.statusBusyCallsPerSecond);
    setAll();
    clock.advance(limits.statusFollowUpMs);
    expect(looks).toHaveLength(limits.statusCallsPerSecondBusyMax);
  });

  it('are one per session, however often it is set while it waits', () => {
    const { clock, looks, sessions, setAll, watch } = watched(2 * defaultGatewayLimits.statusBusyCallsPerSecond);
    for (let round = 0; round < 50; round += 1) {
      setAll();
      clock.advance(1_000);
    }
    for (const session of sessions.slice(1_000)) watch.remove(session);
    looks.length = 0;
    for (let second = 0; second < 60; second += 1) clock.advance(1_000);
    expect(looks).toHaveLength(1_000);
    expect(new Set(looks).size).toBe(1_000);
  });

  it('come in their order, also if others are added meanwhile', () => {
    const queue = new LookQueue();
    const take = () => queue.take()?.session?.deviceId;
    queue.add(planOf('first'), 'planned');
    queue.add(planOf('second'), 'planned');
    const taken = [take()];
    queue.add(planOf('third'), 'planned');
    expect([...taken, take(), take(), take()]).toEqual(['first', 'second', 'third', undefined]);
  });

  it('leave out sessions that have ended, and keep the next one in the queue', () => {
    const queue = new LookQueue();
    const [ended, live] = [planOf('ended'), planOf('live')];
    for (const plan of [ended, live]) queue.add(plan, 'planned');
    ended.session = undefined;
    expect([queue.dropEnded(), queue.dropEnded(), queue.take(), queue.take()]).toEqual([live, live, live, undefined]);
  });
});
