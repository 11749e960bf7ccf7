import { afterAll, beforeAll, expect, it } from 'vitest';
import { bind } from '../database/sql-parameters.js';
import { openJobFixture } from '../jobs/job-fixture.suite.js';
import type { JobFixture } from '../jobs/job-fixture.suite.js';
import { firingTimes } from './rule-history.js';

const STOPPED_AT = 1_800_000_000_000;
const none = { path: undefined, below: false };

let fixture: JobFixture;

beforeAll(async () => (fixture = await openJobFixture()));
afterAll(() => fixture.close());

it('a rule about stopped jobs would have fired for each stop of jobs with its devices only', async () => {
  const [target = ''] = await fixture.addDevices(1);
  const { jobId } = await fixture.runningJob();
  await fixture.addDevices(1);
  await fixture.db.query(
    {
      text: `UPDATE job SET tripped_rule = jsonb_build_object('at', $2::float8),
        tripped_health_gate = jsonb_build_object('at', $2::float8 + 5) WHERE id = $1`,
    },
    [jobId, STOPPED_AT],
  );
  const firedFor = (devices: { readonly ids: readonly string[] } | undefined) =>
    firingTimes(fixture.db, {
      plan: { kind: 'JOB_STOPPED', devices, forSeconds: 0, threshold: undefined, windowSeconds: 600, ...none },
      condition: (values) => (devices === undefined ? 'true' : `d.id = ANY (${bind(values, devices.ids)}::text[])`),
      since: STOPPED_AT - 1,
      now: STOPPED_AT + 10,
      graceMs: 0,
      level: 'RAW',
    });
  expect(await firedFor(undefined)).toEqual([STOPPED_AT, STOPPED_AT + 5]);
  expect(await firedFor({ ids: [target] })).toEqual([STOPPED_AT, STOPPED_AT + 5]);
  expect(await firedFor({ ids: ['device-0000001'] })).toEqual([]);
});

it('a rule about stopped jobs would have fired for one whose image had no valid signature', async () => {
  const { jobId } = await fixture.runningJob();
  const since = STOPPED_AT + 60_000;
  await fixture.db.query(
    {
      text: `UPDATE job SET state = 'FINISHED', conclusion = 'ABORTED', finished_at = to_timestamp($2::float8 / 1000)
        WHERE id = $1`,
    },
    [jobId, since + 1],
  );
  const fired = await firingTimes(fixture.db, {
    plan: {
      kind: 'JOB_STOPPED',
      devices: undefined,
      forSeconds: 0,
      threshold: undefined,
      windowSeconds: 600,
      ...none,
    },
    condition: () => 'TRUE',
    since,
    now: since + 2,
    graceMs: 0,
    level: 'RAW',
  });
  expect(fired).toEqual([since + 1]);
});

it('a rule about counted events would have fired for devices that are there, also without a filter', async () => {
  const [kept = '', removed = ''] = await fixture.addDevices(2);
  const at = Date.now();
  for (const deviceId of [kept, removed])
    await fixture.db.query(
      { text: `INSERT INTO event (id, type, device_id, data) VALUES (uuid_v7($1), $2, $3, '{}')` },
      [new Date(at - 1_000), 'device.restarted_unexpectedly', deviceId],
    );
  const fired = () =>
    firingTimes(fixture.db, {
      plan: {
        kind: 'UNEXPECTED_RESTARTS',
        devices: undefined,
        forSeconds: 0,
        threshold: 1,
        windowSeconds: 600,
        ...none,
      },
      condition: () => 'TRUE',
      since: at - 60_000,
      now: at,
      graceMs: 0,
      level: 'RAW',
    });
  expect(await fired()).toHaveLength(2);
  await fixture.db.query({ text: 'DELETE FROM device WHERE id = $1' }, [removed]);
  expect(await fired()).toHaveLength(1);
});
