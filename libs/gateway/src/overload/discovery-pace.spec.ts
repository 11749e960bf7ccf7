import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { DiscoveryPace } from './discovery-pace.js';

function stage() {
  const clock = new ManualClock();
  const begun: number[] = [];
  const pace = new DiscoveryPace(
    { discoveriesPerSecondMax: 1_000, discoveriesPerSecondQuietMax: 4_000, quietAfterMs: 10_000 },
    clock,
  );
  pace.called();
  const enqueue = (n: number) => pace.enqueue(() => begun.push(n));
  return { clock, begun, pace, enqueue };
}

describe('DiscoveryPace', () => {
  it('lets the first few greet at once', () => {
    const { begun, clock, enqueue } = stage();
    for (let n = 0; n < 500; n += 1) {
      enqueue(n);
      clock.advance(1);
    }
    expect(begun).toHaveLength(500);
    expect(clock.timers).toBe(0);
  });

  it('lets a fleet go on in the order in which it came, at the pace of the limit', () => {
    const { begun, clock, enqueue, pace } = stage();
    for (let n = 0; n < 5_000; n += 1) enqueue(n);
    clock.advance(1_000);
    expect(begun.length).toBeGreaterThan(950);
    expect(begun.length).toBeLessThan(1_050);
    clock.advance(4_100);
    expect(begun).toEqual(Array.from({ length: 5_000 }, (_, n) => n));
    expect([pace.waiting, clock.timers]).toEqual([0, 0]);
  });

  it('is faster while there are no calls, and slower from the first call on', () => {
    const { begun, clock, enqueue, pace } = stage();
    clock.advance(10_000);
    for (let n = 0; n < 10_000; n += 1) enqueue(n);
    clock.advance(1_000);
    expect(begun.length).toBeGreaterThan(3_900);
    expect(begun.length).toBeLessThan(4_200);
    pace.called();
    const before = begun.length;
    clock.advance(1_000);
    expect(begun.length - before).toBeGreaterThan(950);
    expect(begun.length - before).toBeLessThan(1_050);
  });

  it('lets no session overtake those that wait', () => {
    const { begun, clock, enqueue } = stage();
    for (let n = 0; n < 25; n += 1) enqueue(n);
    clock.advance(5);
    enqueue(25);
    clock.advance(50);
    expect(begun).toEqual(Array.from({ length: 26 }, (_, n) => n));
  });

  it('forgets who gave up, and everybody when it stops', () => {
    const { begun, clock, enqueue, pace } = stage();
    const turns = Array.from({ length: 40 }, (_, n) => enqueue(n));
    turns[30]?.();
    clock.advance(15);
    pace.stop();
    clock.advance(1_000);
    expect(begun).not.toContain(30);
    expect(begun.length).toBeLessThan(40);
    expect([pace.waiting, clock.timers]).toEqual([0, 0]);
  });
});
