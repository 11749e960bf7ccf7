import type { DeviceId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { defaultGatewayLimits } from '../gateway-limits.js';
import { FlappingWatch } from './flapping-watch.js';
import type { Attempt } from './flapping-watch.js';

const board = '02:00:00:00:00:01' as DeviceId;
const connect: Attempt = { kind: 'MQTT', isTakeover: false };
const takeover: Attempt = { kind: 'MQTT', isTakeover: true };
const conversation: Attempt = { kind: 'WEBSOCKET', isTakeover: false };

const second = 1_000;
const minute = 60 * second;

function stage(limits: Partial<typeof defaultGatewayLimits> = {}) {
  const clock = new ManualClock();
  const watch = new FlappingWatch({ ...defaultGatewayLimits, ...limits }, clock);
  /** The results of attempts, one every `everyMs`. */
  const attempts = (count: number, everyMs: number, attempt: Attempt) =>
    Array.from({ length: count }, () => {
      const entry = watch.enter(board, attempt);
      const at = clock.now();
      clock.advance(everyMs);
      return { at, ...entry };
    });
  return { clock, watch, attempts };
}

describe('FlappingWatch', () => {
  it('notices within two minutes two boards that evict each other every ten seconds, and says so once', () => {
    const { attempts, watch } = stage();
    const seen = attempts(360, 10 * second, takeover);
    const begun = seen.filter((entry) => entry.kind === 'held' && entry.isNew);
    expect(begun).toHaveLength(1);
    expect(begun[0]?.at).toBeLessThan(2 * minute);
    expect(watch.flapping).toBe(1);
  });

  it('notices two boards that evict each other from gateway to gateway within four minutes', () => {
    const { clock, watch } = stage();
    while (watch.enter(board, connect).kind === 'welcome') {
      clock.advance(10 * second);
      watch.takenElsewhere(board, 'MQTT');
      clock.advance(10 * second);
    }
    expect(clock.now()).toBeLessThan(4 * minute);
  });

  it('lets such a device in less and less often, and never quite locks it out', () => {
    const { attempts } = stage();
    const seen = attempts(360, 10 * second, takeover);
    const held = seen.findIndex(({ kind }) => kind === 'held');
    const entries = seen.slice(held).filter(({ kind }) => kind === 'welcome');
    const gaps = entries.slice(1).map(({ at }, index) => at - (entries[index]?.at ?? 0));
    expect(gaps.slice(0, 5)).toEqual([20 * second, 40 * second, 80 * second, 160 * second, 300 * second]);
    expect(gaps.at(-1)).toBe(defaultGatewayLimits.flappingBackOffMsMax);
  });

  it('holds a device no longer when the clock is set back', () => {
    const { attempts, clock } = stage();
    attempts(360, 10 * second, takeover);
    clock.step(-3_600 * second);
    const welcomed = attempts(31, 10 * second, takeover).filter(({ kind }) => kind === 'welcome');
    expect(welcomed.length).toBeGreaterThan(0);
  });

  it('notices one that restarts again and again', () => {
    const { attempts } = stage();
    expect(attempts(40, 10 * second, connect).filter((entry) => entry.kind === 'held' && entry.isNew)).toHaveLength(1);
  });

  it('takes a fleet that comes back, a bad quarter of an hour and many conversations for what they are', () => {
    const { attempts, watch } = stage();
    for (let n = 0; n < 10_000; n += 1) expect(watch.enter(`board ${n}` as DeviceId, takeover).kind).toBe('welcome');
    expect(attempts(10, 10 * second, connect).every(({ kind }) => kind === 'welcome')).toBe(true);
    const talking = stage();
    expect(talking.attempts(200, 8 * second, conversation).every(({ kind }) => kind === 'welcome')).toBe(true);
  });

  it('forgets an episode after some quiet minutes, and reports the next one', () => {
    const { attempts, clock, watch } = stage();
    attempts(30, 10 * second, takeover);
    expect(watch.flapping).toBe(1);
    clock.advance(6 * minute);
    expect(watch.flapping).toBe(0);
    const again = attempts(30, 10 * second, takeover);
    expect(again[0]?.kind).toBe('welcome');
    expect(again.filter((entry) => entry.kind === 'held' && entry.isNew)).toHaveLength(1);
  });

  it('says when to try again', () => {
    const { attempts, watch, clock } = stage({ reconnectsMax: 2 });
    expect(attempts(1, 0, takeover)[0]).toMatchObject({ kind: 'held', isNew: true, retryAfterMs: 10 * second });
    clock.advance(4 * second);
    expect(watch.enter(board, takeover)).toEqual({ kind: 'held', isNew: false, retryAfterMs: 6 * second });
    clock.advance(6 * second);
    expect(watch.enter(board, takeover)).toEqual({ kind: 'welcome' });
  });

  it('bounds what it remembers', () => {
    const { attempts, watch } = stage({ flappingDevicesMax: 1 });
    attempts(30, 10 * second, takeover);
    watch.enter('another' as DeviceId, connect);
    expect(watch.flapping).toBe(0);
  });

  it('lets everybody in where it is switched off', () => {
    const { attempts } = stage({ reconnectsMax: 0 });
    expect(attempts(100, 0, takeover).every(({ kind }) => kind === 'welcome')).toBe(true);
  });
});
