import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { ClaimedTarget } from '@flotilla/registry';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InFlightCalls } from './in-flight-calls.js';
import type { InFlightCall } from './in-flight-calls.js';

const target: ClaimedTarget = {
  deviceId: 'board' as DeviceId,
  callId: 'call' as CallId,
  gatewayId: 'hub' as HubProcessId,
  epoch: 1,
  claim: 1,
  attempts: 1,
  toolSetHash: undefined,
  deviceName: undefined,
  baselineVersion: undefined,
  sendBy: Infinity,
};

describe('InFlightCalls', () => {
  it('has those that were added and not removed, in any order', () => {
    const steps = fc.array(fc.oneof(fc.constant('add' as const), fc.nat(20)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (moves) => {
        const calls = new InFlightCalls();
        const ever: InFlightCall[] = [];
        const left = new Set<InFlightCall>();
        for (const move of moves) {
          if (move === 'add') {
            const call = calls.add(target, {}, ever.length);
            ever.push(call);
            left.add(call);
          } else {
            const call = ever[move];
            // Also one that is gone already, as where an answer comes twice.
            if (call !== undefined) calls.remove(call);
            if (call !== undefined) left.delete(call);
          }
        }
        expect(calls.size).toBe(left.size);
        expect(ever.filter((call) => calls.has(call))).toEqual([...left]);
        expect(new Set(calls.unmarked(Infinity, ever.length))).toEqual(left);
      }),
    );
  });

  it('names those that wait for long and are not marked, no more than asked for', () => {
    const calls = new InFlightCalls();
    const [first, second, third] = [1_000, 2_000, 3_000].map((at) => calls.add(target, {}, at));
    expect(calls.unmarked(2_000, 5)).toEqual([first, second]);
    expect(calls.unmarked(5_000, 2)).toEqual([first, second]);
    if (first) first.isMarked = true;
    expect(calls.unmarked(5_000, 5)).toEqual([second, third]);
    calls.clear();
    expect(calls.size).toBe(0);
    expect(third && calls.has(third)).toBe(false);
  });
});
