/** The contract of a call router, for every implementation. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallId, CallOutcome, DeviceId, HubProcessId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import type { BusHarness } from '../bus-harness.suite.js';
import type { CallRouter, CallServer, RoutedCall } from './call-router.js';

const device = 'aa:bb:cc:dd:ee:ff' as DeviceId;
const gatewayId = (name: string): HubProcessId => name as HubProcessId;
const answered: CallOutcome = {
  kind: 'SUCCEEDED',
  certainty: 'YES',
  result: { content: [{ type: 'text', text: 'true', extra: { kept: [1] } }], isError: false },
};

function routedCall(timeoutMs = 5_000): RoutedCall {
  const now = Date.now();
  const call = {
    tool: 'self.lamp.turn_on',
    arguments: { level: 3 },
    queueDeadlineAt: now + timeoutMs,
    callTimeoutMs: timeoutMs,
  };
  const rights = { mayCallUserOnly: true, mayChangeFirmware: false, ownUrl: 'https://hub.example/t/upload/x' };
  return {
    deviceId: device,
    epoch: 7,
    rights,
    call: { ...call, callId: 'call-1' as CallId, callDeadlineAt: now + timeoutMs },
  };
}

function serverThat(enqueue: CallServer['enqueue']): CallServer {
  return { enqueue, refreshTools: (deviceId) => deviceId === device, disconnect: (deviceId) => deviceId === device };
}

function send(router: CallRouter, gateway: string, routed: RoutedCall): Promise<SettledCall> {
  return new Promise((resolve) => router.deliver(gatewayId(gateway), routed, resolve));
}

export function describeCallRouter(harness: BusHarness): void {
  describe(`call router (${harness.name})`, () => {
    it('delivers a call to the gateway unchanged and returns its settlement unchanged', async () => {
      const { here, there } = harness.buses();
      const seen: RoutedCall[] = [];
      const settled: SettledCall = { callId: 'call-1' as CallId, outcome: answered, sentAt: 12, settledAt: 34 };
      const end = await there.calls.serve(
        gatewayId('unchanged'),
        serverThat((routed, settle) => {
          seen.push(routed);
          settle(settled);
        }),
      );
      const routed = routedCall();
      expect(await send(here.calls, 'unchanged', routed)).toEqual(settled);
      expect(seen).toEqual([routed]);
      await end();
    });

    it('reaches a gateway of the same process', async () => {
      const { here } = harness.buses();
      const settled: SettledCall = { callId: 'call-1' as CallId, outcome: answered, settledAt: 1 };
      const end = await here.calls.serve(
        gatewayId('own'),
        serverThat((_, settle) => settle(settled)),
      );
      expect(await send(here.calls, 'own', routedCall())).toBe(settled);
      await end();
    });

    it('settles once although the gateway settles twice', async () => {
      const { here, there } = harness.buses();
      const end = await there.calls.serve(
        gatewayId('twice'),
        serverThat((routed, settle) => {
          settle({ callId: routed.call.callId, outcome: answered, settledAt: 1 });
          settle({ callId: routed.call.callId, outcome: answered, settledAt: 2 });
        }),
      );
      const settlements: SettledCall[] = [];
      here.calls.deliver(gatewayId('twice'), routedCall(), (settled) => settlements.push(settled));
      // A later call on the same path returns after both.
      await send(here.calls, 'twice', routedCall());
      expect(settlements.map((settled) => settled.settledAt)).toEqual([1]);
      await end();
    });

    it('settles as not sent without a gateway, never inside the call', async () => {
      const { here } = harness.buses();
      let isReturned = false;
      const settled = await new Promise<SettledCall>((resolve) => {
        here.calls.deliver(gatewayId('nowhere'), routedCall(), (end) => {
          expect(isReturned).toBe(true);
          resolve(end);
        });
        isReturned = true;
      });
      expect(settled.outcome).toMatchObject({
        kind: 'NOT_SENT',
        certainty: 'NEVER',
        error: { code: 'DEVICE_OFFLINE' },
      });
    });

    it('no longer reaches a gateway that ended its service', async () => {
      const { here, there } = harness.buses();
      const end = await there.calls.serve(
        gatewayId('ended'),
        serverThat(() => undefined),
      );
      await end();
      expect((await send(here.calls, 'ended', routedCall())).outcome.kind).toBe('NOT_SENT');
    });

    it('answers what was sent to a gateway before its service ended', async () => {
      const { here, there } = harness.buses();
      const outcomes: string[] = [];
      for (let turns = 0; turns < 20; turns += 1) {
        const end = await there.calls.serve(
          gatewayId('ending'),
          serverThat(({ call }, settle) => settle({ callId: call.callId, outcome: answered, settledAt: 0 })),
        );
        const sent = Array.from({ length: 20 }, () => send(here.calls, 'ending', routedCall(1_000)));
        for (let turn = 0; turn < turns; turn += 1) await nextTurn();
        await end();
        outcomes.push(...(await Promise.all(sent)).map(({ outcome }) => outcome.kind));
      }
      expect(outcomes.filter((kind) => kind !== 'SUCCEEDED' && kind !== 'NOT_SENT')).toEqual([]);
    });

    it('settles as unknown when the gateway throws on a call', async () => {
      const { here, there } = harness.buses();
      const end = await there.calls.serve(
        gatewayId('failing'),
        serverThat(() => {
          throw new TypeError('a fault of the gateway');
        }),
      );
      const settled = await send(here.calls, 'failing', routedCall());
      expect(settled.outcome).toMatchObject({
        kind: 'UNKNOWN',
        certainty: 'MAYBE',
        error: { code: 'GATEWAY_UNREACHABLE' },
      });
      await end();
    });

    it('passes refreshTools and disconnect on, and returns false without such a session', async () => {
      const { here, there } = harness.buses();
      const end = await there.calls.serve(
        gatewayId('asked'),
        serverThat(() => undefined),
      );
      const stranger = '00:00:00:00:00:00' as DeviceId;
      expect(await here.calls.refreshTools(gatewayId('asked'), device)).toBe(true);
      expect(await here.calls.refreshTools(gatewayId('asked'), stranger)).toBe(false);
      expect(await here.calls.disconnect(gatewayId('asked'), device)).toBe(true);
      expect(await here.calls.disconnect(gatewayId('nowhere'), device)).toBe(false);
      await end();
    });

    it('rejects a second service of one gateway id', async () => {
      const { here } = harness.buses();
      const end = await here.calls.serve(
        gatewayId('single'),
        serverThat(() => undefined),
      );
      await expect(
        here.calls.serve(
          gatewayId('single'),
          serverThat(() => undefined),
        ),
      ).rejects.toMatchObject({
        code: 'GATEWAY_ALREADY_SERVED',
      });
      await end();
    });
  });
}
