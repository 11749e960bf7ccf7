import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobFixture, type JobFixture } from '../job-fixture.suite.js';
import { AT, newJob } from '../new-job.suite.js';

const fleet = 10;

describe('targets decided over time', () => {
  let fixture: JobFixture;
  let ids: readonly string[];

  beforeAll(async () => {
    fixture = await openJobFixture();
    ids = await fixture.addDevices(fleet);
  });
  afterAll(() => fixture.close());

  it('adds up to the counters, from the start to the latest decision', async () => {
    const { jobId } = await fixture.runningJob();
    await fixture.db.query({ text: 'UPDATE job SET started_at = to_timestamp($2::float8 / 1000) WHERE id = $1' }, [
      jobId,
      AT,
    ]);
    const decide = `UPDATE job_target SET state = 'DECIDED', outcome = $3::outcome,
        decided_at = to_timestamp($4::float8 / 1000)
      WHERE job_id = $1 AND device_id = $2`;
    const ends: readonly (readonly [number, string, number])[] = [
      [0, 'SUCCEEDED', 1_000],
      [1, 'SUCCEEDED', 1_500],
      [2, 'FAILED', 4_000],
      [3, 'UNKNOWN', 10_000],
    ];
    for (const [index, outcome, after] of ends)
      await fixture.db.query({ text: decide }, [jobId, ids[index], outcome, AT + after]);
    const [points] = await fixture.jobs.decidedOverTime([jobId], 11);
    const none = { noChange: 0, rejected: 0, verifyFailed: 0, expired: 0, cancelled: 0, skipped: 0 };
    expect(points).toEqual([
      { at: AT, succeeded: 0, failed: 0, unknown: 0, ...none },
      { at: AT + 1_000, succeeded: 0, failed: 0, unknown: 0, ...none },
      { at: AT + 2_000, succeeded: 2, failed: 0, unknown: 0, ...none },
      { at: AT + 4_000, succeeded: 2, failed: 0, unknown: 0, ...none },
      { at: AT + 5_000, succeeded: 2, failed: 1, unknown: 0, ...none },
      { at: AT + 9_000, succeeded: 2, failed: 1, unknown: 0, ...none },
      { at: AT + 10_000, succeeded: 2, failed: 1, unknown: 1, ...none },
    ]);
    expect((await fixture.jobs.decidedOverTime([jobId], 2))[0]).toHaveLength(2);
  });

  it('says nothing before the first decision, and answers in the order of the question', async () => {
    const [quiet, other] = [await fixture.runningJob(), await fixture.runningJob()];
    const [target] = await fixture.targetQueue.claim(other, 1, AT);
    if (!target) throw new Error('nothing claimed');
    const to = {
      kind: 'decided',
      outcome: 'SUCCEEDED',
      certainty: 'YES',
      error: undefined,
      result: undefined,
    } as const;
    await fixture.targetQueue.flush(other, [
      { deviceId: target.deviceId, claim: target.claim, to, startedAt: AT, at: Date.now() },
    ]);
    const [none, some] = await fixture.jobs.decidedOverTime([quiet.jobId, other.jobId], 5);
    expect(none).toEqual([]);
    expect(some?.at(-1)).toMatchObject({ succeeded: 1, failed: 0 });
  });

  it('counts for a narrowed viewer what is theirs', async () => {
    const fence = await fixture.runningJob();
    await fixture.db.query(
      { text: `UPDATE job_target SET state = 'DECIDED', outcome = 'SUCCEEDED', decided_at = now() WHERE job_id = $1` },
      [fence.jobId],
    );
    const [points] = await fixture.jobs.decidedOverTime([fence.jobId], 5, {
      within: { ids: ids.slice(0, 3) },
      creator: newJob().createdById,
    });
    expect(points?.at(-1)).toMatchObject({ succeeded: 3 });
  });
});
