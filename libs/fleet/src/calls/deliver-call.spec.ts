import type { DirectoryEntry, RoutedCall } from '@flotilla/bus';
import { BusError } from '@flotilla/bus';
import type { CallId, DeviceId, HubProcessId } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import type { SettledCall } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { deliverCall } from './deliver-call.js';

const deviceId = 'board-1' as DeviceId;
const entryAt = (gateway: string, epoch: number): DirectoryEntry => ({
  deviceId,
  gatewayId: gateway as HubProcessId,
  epoch,
  toolSetHash: undefined,
});
const succeeded: SettledCall = {
  callId: 'c' as CallId,
  outcome: { kind: 'SUCCEEDED', certainty: 'YES' },
  settledAt: 0,
};
const moving: SettledCall = {
  callId: 'c' as CallId,
  settledAt: 0,
  isMoving: true,
  outcome: { kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'UNAVAILABLE', message: 'moves' } },
};

/** Calls the device at a gateway that stops; `lookup` finds its next session. */
function stage(lookup: () => DirectoryEntry | undefined) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const bus = {
    directory: { lookup } as never,
    calls: {
      deliver: (gatewayId: HubProcessId, _routed: RoutedCall, settle: (settled: SettledCall) => void) => {
        asked.push(gatewayId);
        queueMicrotask(() => settle(gatewayId === 'stops' ? moving : succeeded));
      },
    } as never,
  };
  const call = { callId: 'c' as CallId, tool: 't', arguments: {}, queueDeadlineAt: 10_000, callTimeoutMs: 10_000 };
  const routed = { deviceId, rights: { mayCallUserOnly: false, mayChangeFirmware: false }, call };
  const settled = deliverCall({ bus, clock }, entryAt('stops', 3), routed);
  const after = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await new Promise(setImmediate);
    }
  };
  return { asked, settled, after };
}

describe('a call to a device whose gateway stops', () => {
  it('follows it to its next gateway', async () => {
    let entry: DirectoryEntry | undefined = entryAt('stops', 3);
    const { asked, settled, after } = stage(() => entry);
    await after(1_000);
    expect(asked).toEqual(['stops']);
    entry = entryAt('next', 4);
    await after(500);
    expect(await settled).toBe(succeeded);
    expect(asked).toEqual(['stops', 'next']);
  });

  it('ends as not sent if the device does not return by the deadline', async () => {
    const { asked, settled, after } = stage(() => entryAt('stops', 3));
    await after(10_000);
    expect(await settled).toBe(moving);
    expect(asked).toEqual(['stops']);
  });

  it('waits through an outage of Redis', async () => {
    let looks = 0;
    const { settled, after } = stage(() => {
      looks += 1;
      if (looks < 3) throw new BusError('BUS_UNAVAILABLE', 'away');
      return entryAt('next', 4);
    });
    await after(2_000);
    expect(await settled).toBe(succeeded);
  });
});
