import { RegistryError } from '@flotilla/registry';
import type { JobStores, TargetQueue } from '@flotilla/registry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CallRules } from '../calls/call-rules.js';
import {
  answers,
  deviceNames,
  mortalRunner,
  openHub,
  quickVerification,
  silent,
  startJob,
  storeWith,
} from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { LateAnswers } from './verification/late-answers.js';

type Fault = 'refused' | 'answer lost' | undefined;

/** The real store behind a bad connection: a statement is refused, or its answer is lost. */
function behindFaults<Store extends object>(store: Store, faultOf: (method: string) => Fault): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        const fault = faultOf(String(name));
        if (fault === 'refused') throw new TypeError('refused');
        const result: unknown = await method.apply(target, args);
        if (fault === 'answer lost') throw new TypeError('answer lost');
        return result;
      };
    },
  });
}

describe('a job while PostgreSQL comes and goes', () => {
  let fixture: HubFixture;
  const ids = deviceNames(120);

  beforeAll(async () => {
    fixture = await openHub({ withWorker: false });
    await fixture.hub.connect(ids);
  });
  afterAll(() => fixture.close());

  it.each([
    ['self.lamp.turn_on', 'refused'],
    ['self.lamp.turn_on', 'answer lost'],
    ['self.get_device_status', 'answer lost'],
  ] as const)('loses no outcome of %s and calls no device twice when statements are %s', async (tool, kind) => {
    const { hub } = fixture;
    hub.gateway.forget();
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const counts = new Map<string, number>();
    const faultOf = (method: string): Fault => {
      const count = (counts.get(method) ?? 0) + 1;
      counts.set(method, count);
      return ['claim', 'flush', 'transition', 'prepareChunk', 'freeze', 'recover'].includes(method) && count % 3 === 1
        ? kind
        : undefined;
    };
    const { jobs, jobCommands, targetPreparation, targetQueue, targetVerification } = hub.registry;
    const stores: JobStores = {
      jobs: behindFaults(jobs, faultOf),
      jobCommands: behindFaults(jobCommands, faultOf),
      targetPreparation: behindFaults(targetPreparation, faultOf),
      targetQueue: behindFaults(targetQueue, faultOf),
      targetVerification: behindFaults(targetVerification, faultOf),
    };
    const runner = mortalRunner(hub, stores);
    const jobId = await startJob(hub, ids, { tool });
    await runner.drive(jobId);
    await hub.finished(jobId);
    const progress = await hub.progress(jobId);
    expect(progress.succeeded + progress.unknown).toBe(120);
    expect(progress.succeeded).toBe(hub.gateway.callsByDevice.size);
    expect(Math.max(...hub.gateway.callsByDevice.values())).toBe(1);
    expect(await hub.registry.jobCommands.reconcile(jobId)).toBe(0);
    await hub.clock.during(runner.stop());
  });

  it('sends nothing that it claimed under a lease that has ended since', async () => {
    const { hub } = fixture;
    hub.gateway.forget();
    hub.gateway.behave = (_, settle) => settle(answers('true'));
    const claims: number[] = [];
    const { targetQueue } = hub.registry;
    const afterStandstill: TargetQueue['claim'] = async (...args) => {
      const targets = await targetQueue.claim(...args);
      claims.push(targets.length);
      return claims.length === 1 ? targets.map((target) => ({ ...target, sendBy: hub.clock.now() })) : targets;
    };
    const runner = mortalRunner(hub, { targetQueue: storeWith(targetQueue, { claim: afterStandstill }) });
    const jobId = await startJob(hub, ids.slice(0, 10));
    await runner.drive(jobId);
    await hub.finished(jobId);
    expect(claims[0]).toBe(10);
    expect(claims.filter((count) => count > 0).length).toBeGreaterThan(1);
    expect([...hub.gateway.callsByDevice.values()]).toEqual(Array.from({ length: 10 }, () => 1));
    expect(await hub.progress(jobId)).toMatchObject({ succeeded: 10 });
    await hub.clock.during(runner.stop());
  });

  it('corrects an unknown target by a late answer that came while PostgreSQL was away', async () => {
    const { hub } = fixture;
    hub.gateway.forget();
    const error = { code: 'TIMEOUT', message: 'no answer' } as const;
    hub.gateway.behave = (_, settle) => settle({ kind: 'UNKNOWN', certainty: 'YES', error });
    const runner = mortalRunner(hub);
    const jobId = await startJob(hub, ids.slice(0, 1));
    await runner.drive(jobId);
    await hub.finished(jobId);
    const { targetQueue } = hub.registry;
    let looks = 0;
    const lateTargets: TargetQueue['lateTargets'] = async (callIds) => {
      if ((looks += 1) <= 20) throw new RegistryError('DATABASE_UNAVAILABLE', 'away');
      return targetQueue.lateTargets(callIds);
    };
    const { bus, clock, rollout, singleCalls } = hub;
    const lateAnswers = new LateAnswers({
      bus,
      clock,
      rollout,
      singleCalls,
      logger: silent,
      callRules: new CallRules([]),
      registry: { ...hub.registry, targetQueue: storeWith(targetQueue, { lateTargets }) },
      verification: quickVerification,
    });
    lateAnswers.start();
    const callId = hub.gateway.seen[0]?.call.callId;
    if (callId !== undefined) bus.feed.publish('lateAnswer', { callId, outcome: answers('done') });
    await clock.until(() => looks).toBeGreaterThan(0);
    await clock.pass(15_000);
    await clock.until(() => hub.progress(jobId)).toMatchObject({ succeeded: 1, unknown: 0 });
    lateAnswers.stop();
    await clock.during(runner.stop());
  });
});
