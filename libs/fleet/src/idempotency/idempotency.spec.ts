import { randomUUID } from 'node:crypto';
import { BusError } from '@flotilla/bus';
import type { CallOutcome, DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallRules } from '../calls/call-rules.js';
import { admin, answers, openHub, operator, silent, storeWith } from '../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../fleet-fixture.suite.js';
import { Fleet } from '../fleet.js';
import { requestHash } from './request-hash.js';

let fixture: HubFixture;
let hub: HubProcess;
let other: HubProcess;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
  hub = fixture.hub;
  await hub.connect(['board']);
  other = await fixture.startAnother();
});
afterAll(() => fixture.close());

const call = (idempotencyKey: string, change = {}) => ({
  deviceId: 'board',
  tool: 'self.lamp.turn_on',
  arguments: {},
  idempotencyKey,
  ...change,
});
const job = { tool: 'self.lamp.turn_on', arguments: {}, devices: { ids: ['board'] } };

describe('idempotency keys', () => {
  it.each([
    ['callTool', (key: string) => hub.fleet.callTool(call(key), operator)],
    ['createJob', (key: string) => hub.fleet.createJob(job, key, operator)],
    [
      'rerunJob',
      (key: string) =>
        hub.fleet.rerunJob(randomUUID(), { outcomes: ['FAILED'] }, key, { ...operator, id: 'KEY:repeats' }),
    ],
    ['revertJob', (key: string) => hub.fleet.revertJob(randomUUID(), key, admin)],
  ])('of %s have 1 to 255 characters', async (_, act) => {
    for (const key of ['', 'x'.repeat(256)]) {
      const { refusal } = await act(key);
      expect(refusal).toMatchObject({ code: 'INVALID', message: expect.stringContaining('1 to 255') });
      expect(refusal?.path.at(-1)).toBe('idempotencyKey');
    }
    for (const key of ['k', 'x'.repeat(255)]) expect((await act(key)).refusal?.path.at(-1)).not.toBe('idempotencyKey');
  });

  it('make a repetition wait for a call in another process and return its outcome', async () => {
    const ends: CallOutcome[] = [
      answers('at last'),
      { kind: 'UNKNOWN', certainty: 'YES', error: { code: 'TIMEOUT', message: 'silence' } },
    ];
    for (const end of ends) {
      let finish = (): void => undefined;
      hub.gateway.behave = (_, settle) => (finish = () => settle(end));
      hub.gateway.forget();
      const key = randomUUID();
      const first = hub.fleet.callTool(call(key, { timeoutMs: 5_000 }), operator);
      await expect.poll(() => hub.gateway.callCount).toBe(1);
      const second = other.fleet.callTool(call(key, { timeoutMs: 5_000 }), operator);
      await hub.clock.pass(1_000);
      expect(await Promise.race([second, 'waits'])).toBe('waits');
      finish();
      const { call: made } = await first;
      expect(made?.outcome).toBe(end.kind);
      expect((await hub.clock.during(second)).call).toMatchObject({
        id: made?.id,
        outcome: end.kind,
        result: made?.result,
        error: made?.error,
      });
      expect((await other.fleet.callTool(call(key, { timeoutMs: 6_000 }), operator)).refusal?.code).toBe(
        'IDEMPOTENCY_KEY_REUSED',
      );
      expect(other.gateway.callCount + hub.gateway.callCount).toBe(1);
    }
  });

  it('belong to a request, regardless of the order of its members', () => {
    expect(requestHash({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(requestHash({ b: [{ d: 3, c: 2 }], a: 1 }));
    expect(requestHash({ a: [1, 2] })).not.toBe(requestHash({ a: [2, 1] }));
  });

  it('return the refusal of an unsent call again', async () => {
    hub.gateway.forget();
    for (const change of [
      { tool: 'self.fly' },
      { tool: 'self.reboot' },
      { tool: 'self.audio_speaker.set_volume', arguments: { volume: 101 } },
    ]) {
      const key = randomUUID();
      const first = await hub.fleet.callTool(call(key, change), operator);
      expect(first.refusal?.code).toMatch(/TOOL_UNKNOWN|TOOL_FORBIDDEN|ARGUMENTS_INVALID/);
      const second = await other.fleet.callTool(call(key, change), operator);
      expect(second.refusal).toEqual(first.refusal);
      expect(second.call?.id).toBe(first.call?.id);
    }
    expect(hub.gateway.callCount).toBe(0);
  });

  it('return the first call also where no new one could begin now', async () => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    await hub.connect(['leaving']);
    const fleetWith = (change: Partial<ConstructorParameters<typeof Fleet>[0]>) =>
      new Fleet({ ...hub, logger: silent, callRules: new CallRules([]), ...change });
    const isAway = () => Promise.reject(new BusError('BUS_UNAVAILABLE', 'Redis is away.'));
    const calls = storeWith(hub.registry.calls, { isOverloaded: true } as Partial<typeof hub.registry.calls>);
    const refusing = [
      ['OVERLOADED', fleetWith({ registry: { ...hub.registry, calls } })],
      ['UNAVAILABLE', fleetWith({ bus: { ...hub.bus, directory: { ...hub.bus.directory, lookup: isAway } } })],
      ['NOT_FOUND', hub.fleet],
    ] as const;
    const key = randomUUID();
    const { call: made } = await hub.fleet.callTool(call(key, { deviceId: 'leaving' }), operator);
    expect(made?.outcome).toBe('SUCCEEDED');
    await hub.disconnect('leaving');
    await hub.registry.enrolments.remove('leaving' as DeviceId);
    for (const [code, fleet] of refusing) {
      const again = (idempotencyKey: string, change = {}) =>
        fleet.callTool(call(idempotencyKey, { deviceId: 'leaving', ...change }), operator);
      expect(await again(key)).toMatchObject({ call: { id: made?.id, outcome: 'SUCCEEDED' } });
      expect((await again(key, { arguments: { hue: 1 } })).refusal?.code).toBe('IDEMPOTENCY_KEY_REUSED');
      expect((await again(randomUUID())).refusal?.code).toBe(code);
    }
  });

  it('create one job under concurrency, and are separate for each owner', async () => {
    const key = randomUUID();
    const made = await Promise.all([hub, other, hub, other].map(({ fleet }) => fleet.createJob(job, key, operator)));
    expect(new Set(made.map(({ job: one }) => one?.id)).size).toBe(1);
    const namesake = { ...operator, id: 'KEY:another' };
    expect((await hub.fleet.createJob(job, key, namesake)).job?.id).not.toBe(made[0]?.job?.id);
  });
});
