import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { GatewayCounters } from '../gateway-counters.js';
import { defaultGatewayLimits } from '../gateway-limits.js';
import { TrafficControl } from './traffic-control.js';

const bounds = { messagesPerSecondMax: 10, messagesBurst: 20, bytesPerSecondMax: 1_000, bytesBurst: 4_000 };
const limits = { ...defaultGatewayLimits, ...bounds, trafficDebtMsMax: 5_000, trafficEpisodeMs: 60_000 };

function stage(change: Partial<typeof limits> = {}) {
  const clock = new ManualClock();
  const counters = new GatewayCounters();
  const heard: string[] = [];
  const traffic = new TrafficControl({
    clock,
    counters,
    limits: { ...limits, ...change },
    hold: () => heard.push('hold'),
    release: () => heard.push('release'),
    cut: () => heard.push('cut'),
    report: ({ action }) => heard.push(`reported ${action}`),
  });
  return { clock, counters, heard, traffic };
}

describe('TrafficControl', () => {
  it('notices no burst within the limits', () => {
    const { clock, heard, traffic } = stage();
    for (let second = 0; second < 100; second += 1) {
      traffic.count(10, 900);
      clock.advance(1_000);
    }
    traffic.count(20, 4_000);
    expect(heard).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it.each([
    ['messages', 30, 0],
    ['bytes', 1, 5_000],
  ])('stops reading for as long as too many %s take to be paid for', (_what, messages, bytes) => {
    const { clock, heard, traffic } = stage();
    traffic.count(messages, bytes);
    expect(heard).toEqual(['reported slowed', 'hold']);
    expect(traffic.isHolding).toBe(true);
    clock.advance(999);
    expect(heard).toHaveLength(2);
    clock.advance(1);
    expect(heard.at(-1)).toBe('release');
    expect(traffic.isHolding).toBe(false);
  });

  it('waits longer for what arrived although it had stopped reading', () => {
    const { clock, heard, traffic } = stage();
    traffic.count(30, 0);
    traffic.count(10, 0);
    clock.advance(1_000);
    expect(heard).not.toContain('release');
    clock.advance(1_000);
    expect(heard).toEqual(['reported slowed', 'hold', 'release']);
  });

  it('reports each episode once', () => {
    const { clock, counters, heard, traffic } = stage();
    const reports = () => heard.filter((one) => one.startsWith('reported')).length;
    for (let second = 0; second < 30; second += 1) {
      traffic.count(30, 0);
      clock.advance(3_000);
    }
    expect(reports()).toBe(1);
    clock.advance(61_000);
    traffic.count(30, 0);
    expect(reports()).toBe(2);
    expect(counters.list()).toEqual([{ name: 'traffic_slowed', count: 2 }]);
  });

  it('cuts a device once if it sends far more than its limits', () => {
    const { clock, counters, heard, traffic } = stage();
    traffic.count(1_000, 0);
    traffic.count(1_000, 0);
    expect(heard).toEqual(['reported cut', 'cut']);
    expect(counters.list()).toEqual([{ name: 'traffic_cut', count: 1 }]);
    expect(clock.timers).toBe(0);
  });

  it('leaves no timer behind when the connection ends', () => {
    const { clock, heard, traffic } = stage();
    traffic.count(30, 0);
    traffic.end();
    clock.advance(10_000);
    expect(heard).toEqual(['reported slowed', 'hold']);
    expect(clock.timers).toBe(0);
  });

  it('is not set off by what devices do: the largest list of tools in one go, and audio for an hour', () => {
    const { clock, heard, traffic } = stage(defaultGatewayLimits);
    for (let page = 0; page < 64; page += 1) traffic.count(1, 8_400);
    // Opus frames of 20 ms and a ping, in bursts of a second as a slow Wi-Fi delivers them.
    for (let second = 0; second < 3_600; second += 1) {
      traffic.count(51, 51 * 400);
      clock.advance(1_000);
    }
    expect(heard).toEqual([]);
  });
});
