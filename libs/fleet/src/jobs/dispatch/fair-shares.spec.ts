import { afterEach, describe, expect, it } from 'vitest';
import { admin, answers, deviceNames, openHub, startJob } from '../../fleet-fixture.suite.js';
import type { HubFixture } from '../../fleet-fixture.suite.js';

const DEVICES = 600;
const tool = 'self.get_device_status';

describe('who gets what of scarce slots', () => {
  let fixture: HubFixture;
  afterEach(() => fixture.close());

  /** Share of the second job in the calls that were made while both had some to make. */
  async function shareOfSecond(priorities: readonly [number, number]): Promise<number> {
    fixture = await openHub({ tuning: { jobsInFlightMax: 50 } });
    const { hub } = fixture;
    const [one, other] = [deviceNames(DEVICES, 'one'), deviceNames(DEVICES, 'other')];
    await hub.connect([...one, ...other]);
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(15, () => settle(answers('true')));
    const first = await startJob(hub, one, { tool, maxInFlight: 200, priority: priorities[0] });
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThan(0);
    const second = await startJob(hub, other, { tool, maxInFlight: 200, priority: priorities[1] });
    await Promise.all([hub.finished(first), hub.finished(second)]);
    const isSecond = hub.gateway.seen.map(({ deviceId }) => deviceId.startsWith('other'));
    const contested = isSecond.slice(
      isSecond.indexOf(true),
      Math.min(isSecond.lastIndexOf(true), isSecond.lastIndexOf(false)) + 1,
    );
    return contested.filter(Boolean).length / contested.length;
  }

  it('is half and half between jobs of one priority, whichever came first', async () => {
    const share = await shareOfSecond([2, 2]);
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });

  it('goes by the weight of their priorities otherwise', async () => {
    // 9 to 3.
    const share = await shareOfSecond([2, 3]);
    expect(share).toBeGreaterThan(0.65);
    expect(share).toBeLessThan(0.85);
  });
});

describe('single calls beside jobs', () => {
  let fixture: HubFixture;
  afterEach(() => fixture.close());

  const call = (deviceId: string) => fixture.hub.fleet.callTool({ deviceId, tool, arguments: {} }, admin);

  it('need none of the slots that jobs have taken all of', async () => {
    fixture = await openHub({ tuning: { jobsInFlightMax: 20 } });
    const { hub } = fixture;
    await hub.connect([...deviceNames(40), 'switch']);
    hub.gateway.behave = ({ deviceId }, settle) => {
      if (deviceId === 'switch') settle(answers('true'));
    };
    await startJob(hub, deviceNames(40), { tool, maxInFlight: 40 });
    await hub.clock.until(() => hub.gateway.inFlight).toBe(20);
    expect((await call('switch')).call?.outcome).toBe('SUCCEEDED');
    expect(hub.gateway.inFlight).toBe(20);
  });

  it('do not wait until a whole batch of a job is handed over', async () => {
    fixture = await openHub();
    const { hub } = fixture;
    await hub.connect([...deviceNames(500), 'switch']);
    await call('switch');
    hub.gateway.forget();
    let single: Promise<unknown> | undefined;
    hub.gateway.behave = (_, settle) => {
      single ??= call('switch');
      settle(answers('true'));
    };
    const jobId = await startJob(hub, deviceNames(500), { tool, maxInFlight: 500 });
    await hub.finished(jobId);
    await single;
    const place = hub.gateway.seen.findIndex(({ deviceId }) => deviceId === 'switch');
    expect(place).toBeGreaterThan(0);
    expect(place).toBeLessThan(400);
  });
});
