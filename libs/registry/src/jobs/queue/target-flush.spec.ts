/** How the ends of claims are stored. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../database/database.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, decided } from '../new-job.suite.js';
import { rebuildCounters } from '../preparation/rebuild-counters.js';
import { MARK_SENT } from './queue-statements.js';
import type { TargetFlush } from './target-flush.js';

describe('a flush of ends', () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(30);
  });
  afterAll(() => fixture.close());

  const waitingForLock = async () => {
    const text = `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await fixture.db.query<{ count: number }>({ text }, []))[0]?.count;
  };
  it('writes results that PostgreSQL would refuse, and those beside them', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 4, AT);
    const texts = [
      '\\u0000',
      'a\0b\ud800',
      `${'x'.repeat(2_048 - '{"content":[{"type":"text","text":"'.length - 1)}${'😀'.repeat(3_000)}`,
      'true',
    ];
    const flushes = claimed.map((target, index): TargetFlush => {
      const flush = decided(target);
      const result = { content: [{ type: 'text', text: texts[index] }], isError: false };
      return { ...flush, to: { ...flush.to, result } as TargetFlush['to'] };
    });
    expect(await fixture.targetQueue.flush(fence, flushes)).toBe(4);
    const [page] = await fixture.jobs.targets([fence.jobId], { outcomes: ['SUCCEEDED'] }, { first: 4 });
    const stored = page?.rows.map(({ result }) => result?.content[0]?.['text']);
    expect(stored).toEqual(
      expect.arrayContaining(['\\u0000', 'a\ufffdb\ufffd', expect.stringMatching(/^\[\d+ bytes.*\ufffd$/), 'true']),
    );
  });

  it('writes an end that PostgreSQL refuses without its answer, and those beside it', async () => {
    const fence = await fixture.runningJob();
    const claimed = await fixture.targetQueue.claim(fence, 5, AT);
    const error = { code: 'DEVICE_ERROR', message: 'too large a code', rpcCode: 2 ** 40 } as const;
    const flushes = claimed.map((target, index): TargetFlush => {
      const { to, ...flush } = decided(target, 'FAILED');
      return { ...flush, to: index === 2 ? ({ ...to, error } as TargetFlush['to']) : to };
    });
    expect(await fixture.targetQueue.flush(fence, flushes)).toBe(5);
    const [page] = await fixture.jobs.targets([fence.jobId], { outcomes: ['FAILED'] }, { first: 5 });
    const refused = page?.rows.filter((row) => row.result === undefined);
    expect(refused).toMatchObject([{ deviceId: claimed[2]?.deviceId, error: { code: 'DEVICE_ERROR' } }]);
  });

  it('writes the end of a target that is being marked as sent at that moment', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.targetQueue.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    let flushed = Promise.resolve(0);
    await fixture.db.transaction(async (transaction) => {
      await MARK_SENT.run(transaction, { ...fence, deviceIds: [target.deviceId] });
      flushed = fixture.targetQueue.flush(fence, [decided(target)]);
      await expect.poll(() => waitingForLock()).toBe(1);
    });
    expect(await flushed).toBe(1);
    expect((await fixture.jobs.progress([fence.jobId])).get(fence.jobId)).toMatchObject({ inFlight: 0, succeeded: 1 });
  });

  it('counts a late answer once, also one that comes during a recount', async () => {
    const fence = await fixture.runningJob();
    const [target] = await fixture.targetQueue.claim(fence, 1, AT);
    if (!target) throw new Error('nothing claimed');
    await fixture.targetQueue.endInFlight(fence, { code: 'TIMEOUT', message: 'not awaited' }, AT);
    const late = { callId: target.callId, outcome: 'SUCCEEDED', error: undefined, result: undefined } as const;
    let corrected: Promise<unknown> = Promise.resolve();
    await fixture.db.transaction(async (transaction) => {
      await transaction.query({ text: 'SELECT FROM job WHERE id = $1 FOR UPDATE' }, [fence.jobId]);
      const query: Queryable['query'] = async (statement, values) => {
        if (statement.text.startsWith('INSERT')) {
          let isOver = false;
          corrected = fixture.targetQueue.correctUnknown([late]).finally(() => (isOver = true));
          await expect.poll(async () => isOver || (await waitingForLock()) === 1).toBe(true);
        }
        return transaction.query(statement, values);
      };
      await rebuildCounters({ query }, fence.jobId);
    });
    expect(await corrected).toHaveLength(1);
    expect((await fixture.jobs.progress([fence.jobId])).get(fence.jobId)).toMatchObject({ succeeded: 1, unknown: 0 });
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(0);
  });

  it('keeps that a former attempt may have run, where later claims send nothing', async () => {
    const fence = await fixture.runningJob({ idempotent: true, offline: 'SKIP', devices: { ids: ['device-0000000'] } });
    const row = () =>
      fixture.db.query({ text: 'SELECT outcome, certainty FROM job_target WHERE job_id = $1' }, [fence.jobId]);
    const claimAndEnd = async (to: TargetFlush['to']) => {
      const [target] = await fixture.targetQueue.claim(fence, 1, AT);
      if (!target) throw new Error('nothing claimed');
      const { deviceId, claim } = target;
      await fixture.targetQueue.flush(fence, [{ deviceId, claim, to, startedAt: AT, at: AT }]);
      return deviceId;
    };
    const error = { code: 'TIMEOUT', message: 'no answer' } as const;
    await claimAndEnd({ kind: 'retry', notBefore: AT, certainty: 'YES', error });
    await fixture.targetQueue.releaseRetries(fence, AT);
    const deviceId = await claimAndEnd({ kind: 'ready' });
    expect(await row()).toEqual([{ outcome: null, certainty: 'MAYBE' }]);
    await fixture.setOnline(deviceId, false);
    expect(await fixture.targetQueue.claim(fence, 1, AT)).toEqual([]);
    await fixture.setOnline(deviceId, true);
    expect(await row()).toEqual([{ outcome: 'UNKNOWN', certainty: 'MAYBE' }]);
  });

  it.each([
    ['REJECTED', 'READBACK_DIFFERS', 'FAILED', 'READBACK_DIFFERS'],
    ['SKIPPED', 'LARGE_MESSAGES_LOST', 'UNKNOWN', 'LARGE_MESSAGES_LOST'],
    ['NO_CHANGE', 'TIMEOUT', 'SUCCEEDED', null],
  ] as const)('keeps the end of a sent attempt if its retry ends %s after %s', async (outcome, code, kept, error) => {
    const fence = await fixture.runningJob({ idempotent: true, devices: { ids: ['device-0000000'] } });
    const ends: readonly TargetFlush['to'][] = [
      { kind: 'retry', notBefore: AT, certainty: 'YES', error: { code, message: 'of the sent attempt' } },
      { kind: 'decided', outcome, certainty: 'NEVER', error: undefined, result: undefined },
    ];
    for (const to of ends) {
      const [target] = await fixture.targetQueue.claim(fence, 1, AT);
      if (!target) throw new Error('nothing claimed');
      const { deviceId, claim } = target;
      await fixture.targetQueue.flush(fence, [{ deviceId, claim, to, startedAt: AT, at: AT }]);
      await fixture.targetQueue.releaseRetries(fence, AT);
    }
    const text = 'SELECT outcome, certainty, attempts, error_code FROM job_target WHERE job_id = $1';
    expect(await fixture.db.query({ text }, [fence.jobId])).toEqual([
      { outcome: kept, certainty: 'MAYBE', attempts: 1, error_code: error },
    ]);
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(0);
  });
});
