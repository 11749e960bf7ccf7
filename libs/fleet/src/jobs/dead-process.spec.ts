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

it('announces each device that went offline with a dead process', async () => {
  const { bus, clock, lease, registry, rollout, singleCalls } = fixture.hub;
  const gone = Array.from({ length: 2_500 }, (_, index) => `gone-${index}` as DeviceId);
  const swept = [...gone];
  const sweepDeadProcesses = async () => swept.splice(0);
  const announced: string[] = [];
  const unsubscribe = bus.feed.subscribe('device', ({ deviceId, presence }) => {
    if (presence === 'OFFLINE') announced.push(deviceId);
  });
  const worker = new TickWorker({
    registry: { ...registry, sweepDeadProcesses },
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
  await clock.until(() => Promise.resolve(announced.length)).toBe(gone.length);
  expect(announced).toEqual(gone);
  unsubscribe();
  await clock.during(worker.stop());
});
