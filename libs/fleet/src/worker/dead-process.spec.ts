/** A worker announces to the other processes which devices went offline with one that died. */
import type { DeviceId } from '@flotilla/mcp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CallRules } from '../calls/call-rules.js';
import { openHub, quickVerification, silent } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { TickWorker } from './tick-worker.js';

let fixture: HubFixture;

beforeAll(async () => {
  fixture = await openHub({ withWorker: false });
});
afterAll(() => fixture.close());

/** A worker whose first sweep finds a dead process with 2,500 devices. */
async function startedWorker() {
  const { bus, clock, lease, registry, rollout, singleCalls } = fixture.hub;
  const gone = Array.from({ length: 2_500 }, (_, index) => `gone-${index}` as DeviceId);
  const events = gone.map((deviceId, index) => ({ id: `${index}`, type: 'ended', deviceId, at: 0, data: {} }));
  const swept = [{ gone, events }];
  const announced: string[] = [];
  const published: (string | undefined)[] = [];
  const unsubscribes = [
    bus.feed.subscribe('device', ({ deviceId, presence }) => {
      if (presence === 'OFFLINE') announced.push(deviceId);
    }),
    bus.feed.subscribe('event', ({ deviceId }) => published.push(deviceId)),
  ];
  const worker = new TickWorker({
    registry: { ...registry, sweepDeadProcesses: async () => swept.pop() ?? { gone: [], events: [] } },
    clock,
    logger: silent,
    callRules: new CallRules([]),
    singleCalls,
    lease,
    rollout,
    bus,
    verification: quickVerification,
  });
  await worker.start();
  const unsubscribe = () => unsubscribes.forEach((each) => each());
  return { worker, gone, announced, published, unsubscribe };
}

it('announces each device that went offline with a dead process, and the end of its session', async () => {
  const { clock } = fixture.hub;
  const { worker, gone, announced, published, unsubscribe } = await startedWorker();
  await clock.until(() => Promise.resolve(announced.length)).toBe(gone.length);
  expect(announced).toEqual(gone);
  await clock.until(() => Promise.resolve(published)).toEqual(gone);
  unsubscribe();
  await clock.during(worker.stop());
});

it('announces no more once it has stopped', async () => {
  const { bus, clock } = fixture.hub;
  const { worker, announced, unsubscribe } = await startedWorker();
  const stopped = worker.stop();
  clock.advance(60_000);
  await clock.during(stopped);
  bus.feed.publish('device', { deviceId: 'last' as DeviceId, presence: 'OFFLINE' });
  await expect.poll(() => announced.at(-1)).toBe('last');
  expect(announced).toHaveLength(1_001);
  unsubscribe();
});
