import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('a rule about counted events', () => {
  const HOUR = 3_600;
  const DAY = 24 * HOUR;
  const TYPE = 'device.restarted_unexpectedly';

  /** Seconds after the begin of the history at which the rule would have fired. */
  async function firedAfter(
    rule: { readonly threshold: number; readonly windowSeconds: number; readonly forSeconds: number },
    eventsAfter: readonly (readonly number[])[],
  ): Promise<readonly number[]> {
    const now = Date.now();
    const since = now - 7 * DAY * 1_000;
    const devices = await fixture.addDevices(eventsAfter.length);
    for (const [index, times] of eventsAfter.entries())
      for (const after of times)
        await fixture.db.query(
          { text: `INSERT INTO event (id, type, device_id, data) VALUES (uuid_v7($1), $2, $3, '{}')` },
          [new Date(since + after * 1_000), TYPE, devices[index]],
        );
    const fired = await firingTimes(fixture.db, {
      plan: { kind: 'UNEXPECTED_RESTARTS', devices: undefined, ...rule, ...none },
      condition: (values) => `d.id = ANY (${bind(values, devices)}::text[])`,
      since,
      now,
      graceMs: 0,
      level: 'RAW',
    });
    return (fired ?? []).map((at) => (at - since) / 1_000);
  }

  it.each([
    ['fires for each event after a window without one', 1, HOUR, 0, [DAY, 3 * DAY, 5 * DAY], [DAY, 3 * DAY, 5 * DAY]],
    ['fires once for events that follow within the window', 1, 600, 0, [0, 500, 1_100, 1_701], [0, 1_701]],
    ['fires again once the window was not full in between', 2, 600, 0, [0, 500, 1_080, 1_600], [500, 1_080, 1_600]],
    ['does not fire for events that do not fill a window', 2, 600, 0, [0, 601, 1_300], []],
    ['does not fire where the window is full for a shorter time', 3, HOUR, 3_000, [0, 1_800, 3_540], []],
    ['fires after its duration', 3, HOUR, 60, [0, 1_800, 3_540], [3_600]],
    ['adds the time of further events', 2, 600, 700, [0, 100, 500, 700], [800]],
    ['does not fire again for what began before the history', 1, 600, 0, [-60, 60, 1_000], [1_000]],
    ['has not fired before its duration is over', 1, HOUR, 600, [7 * DAY - 599], []],
  ] as const)('%s', async (_, threshold, windowSeconds, forSeconds, events, expected) => {
    expect(await firedAfter({ threshold, windowSeconds, forSeconds }, [events])).toEqual(expected);
  });

  it('counts the events of each device alone', async () => {
    const rule = { threshold: 2, windowSeconds: 600, forSeconds: 0 };
    expect(
      await firedAfter(rule, [
        [0, 300, 5_000],
        [100, 4_900],
        [5_100, 5_200],
      ]),
    ).toEqual([300, 5_200]);
  });
});
