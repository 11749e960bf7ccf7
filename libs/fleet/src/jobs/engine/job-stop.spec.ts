import type { AbortRule } from '@flotilla/jobs';
import type { CallOutcome } from '@flotilla/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answers, deviceNames, mortalRunner, openHub, startJob, storeWith } from '../../fleet-fixture.suite.js';
import type { HubFixture, HubProcess } from '../../fleet-fixture.suite.js';

const failure: CallOutcome = { kind: 'FAILED', certainty: 'YES', error: { code: 'DEVICE_ERROR', message: 'broken' } };
const threeFail: AbortRule = { outcomes: ['FAILED', 'UNKNOWN'], scope: 'JOB', count: 3, action: 'CANCEL' };

type Settle = (outcome: CallOutcome) => void;

describe('a job that an abort rule has to stop', () => {
  let fixture: HubFixture;
  let hub: HubProcess;
  const ids = deviceNames(40);

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    hub = fixture.hub;
    await hub.connect(ids);
  });
  beforeEach(() => hub.gateway.forget());
  afterAll(() => fixture.close());

  /**
   * The first call succeeds. The others fail after the counters were read, and are written before
   * the run receives what was read.
   */
  async function runWithFailuresBehindTheCounters(
    deviceCount: number,
  ): Promise<{ readonly calls: number; readonly conclusion: unknown }> {
    const waiting: Settle[] = [];
    let calls: number | undefined;
    hub.gateway.behave = (_, settle) => {
      if (hub.gateway.callCount === 1 || calls !== undefined) settle(answers('true'));
      else waiting.push(settle);
    };
    const { jobs } = hub.registry;
    const runner = mortalRunner(hub, {
      jobs: storeWith(jobs, {
        waveProgress: async (jobIds) => {
          const read = await jobs.waveProgress(jobIds);
          if (calls !== undefined || [...(read[0]?.values() ?? [])].every(({ succeeded }) => succeeded === 0))
            return read;
          calls = hub.gateway.callCount;
          for (const settle of waiting.splice(0)) settle(failure);
          const [jobId] = jobIds;
          if (jobId !== undefined)
            await hub.clock.until(() => hub.progress(jobId)).toMatchObject({ failed: calls - 1 });
          return read;
        },
      }),
    });
    const jobId = await startJob(hub, ids.slice(0, deviceCount), { abort: [threeFail], maxInFlight: 5 });
    await runner.drive(jobId);
    const { conclusion } = await hub.finished(jobId);
    await hub.clock.during(runner.stop());
    expect(calls).toBeGreaterThan(3);
    return { calls: hub.gateway.callCount - (calls ?? 0), conclusion };
  }

  it('claims nothing on counters that are older than the latest failures', async () => {
    expect(await runWithFailuresBehindTheCounters(40)).toEqual({ calls: 0, conclusion: 'ABORTED' });
  });

  it('is stopped, not finished, where its last devices trip the rule', async () => {
    expect(await runWithFailuresBehindTheCounters(5)).toEqual({ calls: 0, conclusion: 'ABORTED' });
  });

  it('is stopped where calls count as unknown because the answer to their claim was lost', async () => {
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const { targetQueue } = hub.registry;
    let claims = 0;
    const claim: typeof targetQueue.claim = async (...args) => {
      const targets = await targetQueue.claim(...args);
      claims += 1;
      if (claims === 1) throw new TypeError('answer lost');
      return targets;
    };
    const runner = mortalRunner(hub, { targetQueue: storeWith(targetQueue, { claim }) });
    const jobId = await startJob(hub, ids.slice(0, 8), { abort: [threeFail], maxInFlight: 5 });
    await runner.drive(jobId);
    expect(await hub.finished(jobId)).toMatchObject({ conclusion: 'ABORTED', trippedRule: { decided: 8, failed: 5 } });
    await hub.clock.during(runner.stop());
  });

  it('sends nothing more after a crash that leaves too many calls unknown', async () => {
    hub.gateway.behave = (_, settle) => hub.clock.setTimer(2, () => settle(answers('true')));
    const { targetQueue } = hub.registry;
    const never = new Promise<never>(() => undefined);
    const runner = mortalRunner(hub, { targetQueue: storeWith(targetQueue, { flush: () => never }) });
    const jobId = await startJob(hub, ids, { abort: [threeFail], maxInFlight: 5 });
    await runner.drive(jobId);
    await hub.clock.until(() => hub.gateway.callCount).toBeGreaterThan(20);
    runner.abandon();
    const { callCount } = hub.gateway;

    const successor = await fixture.startAnother();
    await successor.connect(ids);
    await successor.worker.start();
    expect(await successor.finished(jobId)).toMatchObject({ conclusion: 'ABORTED' });
    expect(successor.gateway.callCount).toBe(0);
    // More than there were slots: a slot is free when its call is answered, before that is written.
    expect((await successor.progress(jobId)).unknown).toBeGreaterThanOrEqual(callCount);
  });
});
