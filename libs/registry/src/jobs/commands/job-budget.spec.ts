/**
 * The cost of a large job in PostgreSQL. [jobs §9] The long tests run the full size; the small size
 * finds statements that read all rows each time.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../database/database.js';
import type { TargetFlush } from '../queue/target-flush.js';
import type { ClaimedTarget } from '../queue/target-queue.js';
import { FLUSH } from '../queue/queue-statements.js';
import { flushParameters } from '../queue/target-flush.js';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT } from '../new-job.suite.js';

const isLong = process.env['FLOTILLA_TEST_LONG'] === '1';
const TARGETS = isLong ? 100_000 : 10_000;
/** Times are those of a quiet machine, with as much again for one that is not. */
const share = (2 * TARGETS) / 100_000;

function succeeded({ deviceId, claim }: ClaimedTarget): TargetFlush {
  const to = { kind: 'decided', outcome: 'SUCCEEDED', certainty: 'YES', error: undefined, result: undefined } as const;
  return { deviceId, claim, to, startedAt: AT, at: AT };
}

/** Rows of targets that the connection has read so far, as PostgreSQL counts them. */
async function rowsRead(db: Queryable): Promise<number> {
  const text = `SELECT sum(seq_tup_read + idx_tup_fetch)::int AS count FROM pg_stat_xact_user_tables
     WHERE relname LIKE 'job_target%'`;
  const rows = await db.query<{ count: number }>({ text }, []);
  return rows[0]?.count ?? 0;
}

describe(`a job over ${TARGETS} devices`, () => {
  let fixture: JobFixture;

  beforeAll(async () => {
    fixture = await openJobFixture();
    await fixture.addDevices(TARGETS);
  }, 60_000);
  afterAll(() => fixture.close());

  async function timed<Result>(act: () => Promise<Result>): Promise<{ readonly result: Result; readonly ms: number }> {
    const from = performance.now();
    return { result: await act(), ms: performance.now() - from };
  }

  it('is prepared with its waves and cancelled in seconds', { timeout: 60_000 }, async () => {
    const sizes = [10, TARGETS / 10, TARGETS - TARGETS / 10 - 10];
    const prepared = await timed(() => fixture.runningJob({}, sizes));
    const fence = prepared.result;
    const [waves] = await fixture.jobs.waveProgress([fence.jobId]);
    expect([...(waves?.values() ?? [])].map(({ total }) => total)).toEqual(sizes);
    const ended = await timed(() => fixture.targetQueue.endNeverSent(fence, 'CANCELLED', AT));
    expect(ended.result.count).toBe(TARGETS);
    expect(await fixture.jobCommands.reconcile(fence.jobId)).toBe(0);
    expect({ prepareMs: prepared.ms, cancelMs: ended.ms }).toSatisfy(
      ({ prepareMs, cancelMs }: { prepareMs: number; cancelMs: number }) =>
        prepareMs < 5_000 * Math.max(share, 1) && cancelMs < 2_000 * Math.max(share, 1),
    );
  });

  it('is claimed and decided in two commits per five hundred targets', { timeout: 120_000 }, async () => {
    const fence = await fixture.runningJob({ idempotent: true, maxInFlight: 2_000 });
    let statements = 0;
    for (;;) {
      const targets = await fixture.targetQueue.claim(fence, 500, AT);
      statements += 1;
      if (targets.length === 0) break;
      await fixture.targetQueue.flush(fence, targets.map(succeeded));
      statements += 1;
    }
    expect(statements).toBeLessThanOrEqual((2 * TARGETS) / 500 + 1);
    expect((await fixture.jobs.progress([fence.jobId])).get(fence.jobId)).toMatchObject({ succeeded: TARGETS });
  });

  it(
    'looks at the rows of a batch and no others where statistics know nothing of targets in flight',
    { timeout: 60_000 },
    async () => {
      // Those of a time when all targets were decided.
      await fixture.db.query({ text: 'ANALYZE job_target' }, []);
      const fence = await fixture.runningJob({ idempotent: true, maxInFlight: 4_000 });
      const claimed = await fixture.targetQueue.claim(fence, 4_000, AT);
      const batch = claimed.slice(-500).map(succeeded);
      const fetched = await fixture.db.transaction(async (transaction) => {
        const before = await rowsRead(transaction);
        expect(await FLUSH.run(transaction, flushParameters(fence, batch))).toEqual([{ count: batch.length }]);
        return (await rowsRead(transaction)) - before;
      });
      expect(fetched).toBeLessThanOrEqual(2 * batch.length);
    },
  );
});
