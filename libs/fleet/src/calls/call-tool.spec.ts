import { randomUUID } from 'node:crypto';
import type { CallOutcome } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Actor } from '../actor.js';
import type { CallRequest } from './call-request.js';
import { Fleet } from '../fleet.js';
import { CallRules } from './call-rules.js';
import { admin, answers, openHub, operator, silent } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';

const request = (change: Partial<CallRequest> = {}): CallRequest => ({
  deviceId: 'board-1',
  tool: 'self.lamp.turn_on',
  arguments: {},
  ...change,
});

describe('callTool', () => {
  let fixture: HubFixture;
  let hub: HubProcess;

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(['board-1', 'sleeper']);
    await hub.disconnect('sleeper');
  });
  beforeEach(() => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    hub.gateway.seen.length = 0;
  });
  afterAll(() => fixture.close());

  it('returns the outcome after the call is in PostgreSQL', async () => {
    const { call, refusal } = await hub.fleet.callTool(request(), operator);
    expect(refusal).toBeUndefined();
    expect(call).toMatchObject({
      outcome: 'SUCCEEDED',
      actor: 'operator',
      tool: 'self.lamp.turn_on',
      jobId: undefined,
    });
    expect(await hub.registry.calls.find(call?.id ?? '')).toMatchObject({
      id: call?.id,
      outcome: 'SUCCEEDED',
      result: call?.result,
    });
  });

  it('sets both deadlines once, no later than the start plus the timeout', async () => {
    const before = hub.clock.now();
    await hub.fleet.callTool(request({ timeoutMs: 5_000 }), operator);
    const sent = hub.gateway.seen[0]?.call;
    expect(sent?.queueDeadlineAt).toBe(sent?.callDeadlineAt);
    expect(sent?.callDeadlineAt).toBeGreaterThanOrEqual(before + 5_000);
    expect(sent?.callDeadlineAt).toBeLessThanOrEqual(hub.clock.now() + 5_000);
    expect(hub.gateway.seen[0]?.epoch).toBeUndefined();
  });

  it('observes an unanswered restart as one, as in a job, and records it as unknown', async () => {
    const error = { code: 'SESSION_CLOSED', message: '' } as const;
    hub.gateway.behave = (_, settle) => settle({ kind: 'UNKNOWN', certainty: 'YES', error });
    const observed: string[] = [];
    const observeCall = (_origin: string, outcome: string) => void observed.push(outcome);
    const fleet = new Fleet({ ...hub, logger: silent, callRules: new CallRules([]), observeCall });
    const { call } = await fleet.callTool(request({ tool: 'self.reboot' }), admin);
    expect(call).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'SESSION_CLOSED' } });
    await expect.poll(() => observed).toEqual(['RESTARTED']);
    await fleet.callTool(request(), operator);
    await expect.poll(() => observed).toHaveLength(2);
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    await fleet.callTool(request({ tool: 'self.reboot' }), admin);
    await fleet.callTool(request({ deviceId: 'no-such-board' }), operator);
    expect(observed).toEqual(['RESTARTED', 'UNKNOWN', 'SUCCEEDED', 'REFUSED']);
  });

  it('counts the failure text of the policy as a failure, and keeps the answer', async () => {
    hub.gateway.behave = (_, settle) => settle(answers('false'));
    const themed = await hub.fleet.callTool(
      request({ tool: 'self.screen.set_theme', arguments: { theme: 'dark' } }),
      operator,
    );
    expect(themed).toMatchObject({
      call: { outcome: 'FAILED', error: { code: 'DEVICE_ERROR' }, result: { isError: false } },
    });
    expect(themed.refusal).toBeUndefined();
    expect((await hub.fleet.callTool(request(), operator)).call?.outcome).toBe('SUCCEEDED');
  });

  it.each<[string, Partial<CallRequest>, string, readonly string[]]>([
    ['a tool that the device has not', { tool: 'self.fly' }, 'TOOL_UNKNOWN', ['input', 'tool']],
    ['a user-only tool without the right', { tool: 'self.reboot' }, 'TOOL_FORBIDDEN', ['input', 'tool']],
    [
      'arguments that do not fit',
      { tool: 'self.audio_speaker.set_volume', arguments: { volume: 101 } },
      'ARGUMENTS_INVALID',
      ['input', 'arguments'],
    ],
  ])('rejects %s before sending, with a record', async (_, change, code, path) => {
    const { call, refusal } = await hub.fleet.callTool(request(change), operator);
    expect(refusal).toMatchObject({ code, path });
    expect(call).toMatchObject({ outcome: 'REJECTED', error: { code } });
    expect(await hub.registry.calls.find(call?.id ?? '')).toMatchObject({ outcome: 'REJECTED', error: { code } });
    expect(hub.gateway.callCount).toBe(0);
  });

  it('rejects a restart for an actor that may not restart devices, even if the tool is not user-only', async () => {
    const { call } = await hub.fleet.callTool(request({ tool: 'self.Reboot' }), { ...admin, mayRestart: false });
    expect(call).toMatchObject({ outcome: 'REJECTED', error: { code: 'TOOL_FORBIDDEN' } });
    expect(hub.gateway.callCount).toBe(0);
  });

  it('says where the names of tools are when the device does not have one', async () => {
    const { refusal } = await hub.fleet.callTool(request({ tool: 'self.fly' }), operator);
    expect(refusal?.message).toBe('The device has no tool "self.fly". List its tools to see their exact names.');
  });

  it('lists the tools of the hub when a speech tool is called', async () => {
    const { refusal } = await hub.fleet.callTool(request({ tool: 'hub.say', arguments: { text: 'Hello' } }), operator);
    expect(refusal).toMatchObject({
      code: 'TOOL_UNKNOWN',
      message: expect.stringMatching(/hub\.alert and hub\.identify\. No tool makes a device speak/) as string,
    });
  });

  it('sends only allowed URLs to a tool that opens them, for every caller', async () => {
    const upgrade = (url: string): CallRequest => request({ tool: 'self.upgrade_firmware', arguments: { url } });
    expect(await hub.fleet.callTool(upgrade('https://evil.example/fw.bin'), admin)).toMatchObject({
      call: { outcome: 'REJECTED', error: { code: 'URL_FORBIDDEN' } },
      refusal: { code: 'URL_FORBIDDEN', path: ['input', 'arguments'] },
    });
    expect((await hub.fleet.callTool(upgrade('https://files.example/fw.bin'), admin)).call?.outcome).toBe('SUCCEEDED');
  });

  it('records a call of an offline device as not sent', async () => {
    const { call, refusal } = await hub.fleet.callTool(request({ deviceId: 'sleeper' }), operator);
    expect(refusal?.code).toBe('DEVICE_OFFLINE');
    expect(await hub.registry.calls.find(call?.id ?? '')).toMatchObject({
      outcome: 'NOT_SENT',
      error: { code: 'DEVICE_OFFLINE' },
    });
  });

  it.each<[string, string, Actor, string]>([
    ['without the right', 'board-1', operator, 'TOOL_FORBIDDEN'],
    ['on a device that is away', 'sleeper', admin, 'DEVICE_OFFLINE'],
    ['on a device that is away, without the right', 'sleeper', operator, 'DEVICE_OFFLINE'],
  ])(
    'puts a user-only call on the audit trail also where it is refused: %s',
    async (_what, deviceId, actor, errorCode) => {
      const { call } = await hub.fleet.callTool(request({ deviceId, tool: 'self.reboot' }), actor);
      const { rows } = await hub.registry.audit.page(
        { subject: `device:${deviceId}`, action: 'call.privileged' },
        { first: 1 },
      );
      expect(rows).toMatchObject([{ actor: actor.name, data: { callId: call?.id, tool: 'self.reboot', errorCode } }]);
    },
  );

  it.each<[string, Partial<CallRequest>, string, readonly string[]]>([
    ['an unknown device', { deviceId: 'unknown' }, 'NOT_FOUND', ['input', 'deviceId']],
    ['a timeout that is too long', { timeoutMs: 300_001 }, 'INVALID', ['input', 'timeoutMs']],
    ['a timeout with a fraction', { timeoutMs: 1_000.5 }, 'INVALID', ['input', 'timeoutMs']],
    [
      'arguments beyond all measure',
      { arguments: { text: 'x'.repeat(17_000) } },
      'REQUEST_TOO_LARGE',
      ['input', 'arguments'],
    ],
    ['an empty idempotency key', { idempotencyKey: '' }, 'INVALID', ['input', 'idempotencyKey']],
  ])('refuses %s without a record', async (_, change, code, path) => {
    expect(await hub.fleet.callTool(request(change), operator)).toEqual({
      refusal: { code, path, message: expect.any(String) },
    });
  });

  it('returns the outcome of the gateway for a call that may have run', async () => {
    const unknown: CallOutcome = {
      kind: 'UNKNOWN',
      certainty: 'YES',
      error: { code: 'TIMEOUT', message: 'no answer' },
    };
    hub.gateway.behave = (_, settle) => settle(unknown);
    expect(await hub.fleet.callTool(request(), operator)).toMatchObject({
      call: { outcome: 'UNKNOWN', error: { code: 'TIMEOUT' } },
    });
  });

  describe('with an idempotency key', () => {
    it('sends once, and a repetition gets the same call', async () => {
      const keyed = request({ idempotencyKey: randomUUID() });
      const first = await hub.fleet.callTool(keyed, operator);
      const second = await hub.fleet.callTool(keyed, operator);
      expect(second.call?.id).toBe(first.call?.id);
      expect(second.call?.outcome).toBe('SUCCEEDED');
      expect(hub.gateway.callCount).toBe(1);
    });

    it('makes a repetition wait for the first call in flight', async () => {
      let finish = (): void => undefined;
      hub.gateway.behave = (_, settle) => (finish = () => settle(answers('at last')));
      const keyed = request({ idempotencyKey: randomUUID() });
      const first = hub.fleet.callTool(keyed, operator);
      await expect.poll(() => hub.gateway.callCount).toBe(1);
      const second = hub.fleet.callTool(keyed, operator);
      finish();
      expect((await second).call).toEqual((await first).call);
      expect(hub.gateway.callCount).toBe(1);
    });

    it('refuses the key for another request, and keeps keys of actors apart', async () => {
      const keyed = request({ idempotencyKey: randomUUID() });
      await hub.fleet.callTool(keyed, operator);
      const other = await hub.fleet.callTool({ ...keyed, tool: 'self.get_device_status' }, operator);
      expect(other).toMatchObject({ refusal: { code: 'IDEMPOTENCY_KEY_REUSED' } });
      expect(other.call).toBeUndefined();
      expect((await hub.fleet.callTool({ ...keyed, tool: 'self.get_device_status' }, admin)).call?.outcome).toBe(
        'SUCCEEDED',
      );
    });

    it('reports a call as not sent if PostgreSQL fails before it is sent, also to a repetition', async () => {
      const keyed = request({ idempotencyKey: randomUUID(), timeoutMs: 1_000 });
      vi.spyOn(hub.registry.toolSets, 'get').mockRejectedValueOnce(new Error('The database is away.'));
      const first = await hub.fleet.callTool(keyed, operator);
      expect(first).toMatchObject({ call: { outcome: 'NOT_SENT' }, refusal: { code: 'UNAVAILABLE' } });
      const second = await hub.fleet.callTool(keyed, operator);
      expect(second).toMatchObject({ call: { id: first.call?.id, outcome: 'NOT_SENT' } });
      expect(hub.gateway.callCount).toBe(0);
    });

    it('reports a call as UNKNOWN if its process died before it recorded the end', async () => {
      const key = randomUUID();
      hub.gateway.behave = () => undefined;
      void hub.fleet.callTool(request({ idempotencyKey: key, timeoutMs: 1_000 }), operator);
      await expect.poll(() => hub.gateway.callCount).toBe(1);
      const successor = await fixture.startAnother();
      await successor.connect(['board-1']);
      const again = successor.fleet.callTool(request({ idempotencyKey: key, timeoutMs: 1_000 }), operator);
      const { call } = await hub.clock.during(again);
      expect(call).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'HUB_RESTARTED' } });
      expect(successor.gateway.callCount).toBe(0);
    });
  });
});
