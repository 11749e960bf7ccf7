/**
 * Plans of statements of jobs that PostgreSQL made over empty tables, and while all targets had
 * ended and all devices were offline, as before a large job.
 */
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { isPlanKept, Planner } from '../database/planner.suite.js';
import type { KeyedStatement } from '../database/planner.suite.js';

const JOB = `'00000000-0000-7000-8000-000000000001'`;
const EARLIER_JOB = `'00000000-0000-7000-8000-000000000002'`;
const batch = (item: (n: number) => string) => `'{${Array.from({ length: 300 }, (_, n) => item(n + 1)).join()}}'`;

const statements: readonly KeyedStatement[] = [
  ['flush-targets', 'job_target'],
  ['mark-sent', 'job_target'],
  ['wake-devices', 'job_target|device'],
  ['find-late-targets', 'job_target'],
  ['correct-unknown', 'job_target'],
  ['settle-verifications', 'job_target|download'],
  ['claim-readbacks', 'device'],
  ['offer-image', 'job_target|download|device'],
  ['grant-downloads', 'job_target|download|device'],
  // The targets of downloads. It also counts recent failures among all targets of the job.
  ['read-room', 'job_target_default o\\w*'],
];

let planner: Planner;

beforeAll(async () => {
  planner = await Planner.open({
    jobId: JOB,
    fence: '1',
    limit: '500',
    at: 'now()',
    againAt: 'now()',
    deviceIds: batch((n) => `device-${String(n)}`),
    callIds: batch(() => v7()),
  });
});

afterAll(() => planner.close());

describe('a statement of jobs', () => {
  it.each(statements.filter(isPlanKept))('reads by key over empty tables: %s', (...statement) =>
    planner.readsByKey(statement),
  );

  describe('while nothing is in flight', () => {
    beforeAll(async () => {
      const states = ['SENT', 'VERIFYING', 'WAITING_DEVICE', 'DECIDED'];
      await planner.fill([
        `INSERT INTO hub_process (id, host, pid, started_at, lease_until) VALUES (${JOB}, 'h', 1, now(), now())`,
        `INSERT INTO device (id, dialect, reachability, last_seen_at, online, gateway_id)
         SELECT 'device-' || n, 'XIAOZHI', 'ALWAYS', now() - n * interval '1 s', true, ${JOB}
         FROM generate_series(1, 3000) n`,
        `INSERT INTO job_target (job_id, device_id, ordinal, state, call_id)
         SELECT ${EARLIER_JOB}, 'device-' || n, n, 'READY', uuid_v7(now()) FROM generate_series(1, 3000) n`,
        `INSERT INTO download (id, image_id, device_id, job_id, expires_at)
         SELECT uuid_v7(now()), ${JOB}, 'device-' || n, ${EARLIER_JOB}, now() FROM generate_series(1, 3000) n`,
        ...states.map((state) => `UPDATE job_target SET state = '${state}'`),
        `UPDATE job_target SET outcome = 'UNKNOWN'`,
        `UPDATE job_target SET outcome = 'SUCCEEDED'`,
        'UPDATE device SET online = false',
        'UPDATE download SET completed_at = now()',
      ]);
    });

    it.each(statements)('reads by key: %s', (...statement) => planner.readsByKey(statement));
  });
});
