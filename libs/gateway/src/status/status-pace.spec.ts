import type { CallId, DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { GatewayCounters } from '../gateway-counters.js';
import { defaultGatewayLimits } from '../gateway-limits.js';
import { LookQueue } from './look-queue.js';
import { StatusWatch } from './status-watch.js';
import type { WatchedSession } from './watched-session.js';

const callId = '01932f3e-0000-7000-8000-000000000001' as CallId;
const SET = { callId, tool: 'self.audio_speaker.set_volume', arguments: {}, queueDeadlineAt: 0, callTimeoutMs: 0 };

/** A watch over sessions that never answer what it asks; `looks` are the devices that it asked. */
function watched(calls: number) {
  const looks: DeviceId[] = [];
  const clock = new ManualClock(1_000);
  const limits = { ...defaultGatewayLimits, statusIntervalSeconds: 0, statusCallsMax: 1_000 };
  const unused = () => Promise.reject(new Error('nothing is answered, so nothing is written'));
  const registry = {
    calls: { record: unused, isOverloaded: false },
    devices: { report: unused },
    events: { append: unused },
  };
  const watch = new StatusWatch({
    ...{ clock, limits, logger: silentLogger, counters: new GatewayCounters() },
    ...{ registry: registry as never, bus: { feed: { publish: () => undefined } } },
  });
  const outcome = { kind: 'SUCCEEDED', certainty: 'YES', result: { content: [], isError: false } } as const;
  for (let number = 0; number < calls; number++) {
    const deviceId = `device-${number}` as DeviceId;
    const enqueue = () => void looks.push(deviceId);
    const session = { state: 'ready', enqueue } as never;
    watch.settled(
      { deviceId, session, record: { epoch: 1 }, statusTool: 'self.get_device_status' } satisfies WatchedSession,
      SET,
      {
        ...{ callId, outcome, settledAt: 1_000 },
      },
    );
  }
  return { clock, limits, looks };
}

describe('looks after a set', () => {
  it('are made at once where the hub has little to do', () => {
    const { clock, limits, looks } = watched(150);
    clock.advance(limits.statusFollowUpMs);
    expect(looks).toHaveLength(150);
  });

  it('are few from the moment on when many calls are answered, not from the next second on', () => {
    const { clock, limits, looks } = watched(2 * defaultGatewayLimits.statusBusyCallsPerSecond);
    clock.advance(limits.statusFollowUpMs);
    expect(looks).toHaveLength(limits.statusCallsPerSecondBusyMax);
  });

  it('come in their order, also if others are added meanwhile', () => {
    const queue = new LookQueue();
    const look = (name: string) => ({ session: { deviceId: name } as never, kind: 'planned', left: 0 }) as const;
    for (const name of ['first', 'second']) queue.add(look(name));
    const taken = [queue.next()];
    queue.add(look('third'));
    taken.push(queue.next(), queue.next());
    expect(taken.map((next) => next?.session.deviceId)).toEqual(['first', 'second', 'third']);
    expect([queue.next(), queue.size]).toEqual([undefined, 0]);
  });
});
