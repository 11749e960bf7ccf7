import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  fencedWith,
  openDesiredStateFixture,
  targetOf,
  type DesiredStateFixture,
} from '../desired-states/desired-state-fixture.suite.js';
import type { JobFixture } from '../jobs/job-fixture.suite.js';
import { countedEvents, devicesOutOfSync, stoppedJobs, type ConditionSource } from './condition-sources.js';

const NOW = 1_800_000_000_000;
const RULE_AT = NOW - 60_000;
const GATE_AT = NOW - 30_000;
const ENDED_AT = NOW - 10_000;
const gate = { version: '2', restarts: 3, at: GATE_AT };
const rule = (action: 'PAUSE' | 'CANCEL') => ({ rule: { action }, at: RULE_AT });

let states: DesiredStateFixture;
let fixture: JobFixture;

beforeAll(async () => {
  states = await openDesiredStateFixture();
  fixture = states.jobs;
});
afterAll(() => states.close());

/** What the condition holds for, with the reason and the time from which it counts. */
function heldOf({ holding, detail }: ConditionSource, isSure = true) {
  const values: unknown[] = [];
  const text = `SELECT h.subject, x.facts->>'reason' AS reason, (extract(epoch FROM x.since) * 1000)::float8 AS at
    FROM (${holding(values)}) h CROSS JOIN LATERAL (${detail(values)}) x
    WHERE h.is_sure = ${isSure} ORDER BY h.subject`;
  return fixture.db.query({ text }, values);
}

it.each([
  ['an abort rule paused', 'PAUSED', 'ABORT_RULE', rule('PAUSE'), undefined, 'abort rule'],
  ['its health gate paused', 'PAUSED', 'HEALTH_GATE', undefined, gate, 'health gate'],
  ['an abort rule ended', 'FINISHED', undefined, rule('CANCEL'), undefined, 'abort rule'],
  ['its health gate ended', 'FINISHED', undefined, undefined, gate, 'health gate'],
  ['an abort rule paused and its health gate ended', 'FINISHED', undefined, rule('PAUSE'), gate, 'health gate'],
  ['its health gate paused and an abort rule ended', 'FINISHED', undefined, rule('CANCEL'), gate, 'abort rule'],
  ['the signature of its image ended', 'FINISHED', undefined, undefined, undefined, 'image without a valid signature'],
  ['its health gate paused again', 'PAUSED', 'HEALTH_GATE', rule('PAUSE'), gate, 'health gate'],
  ['an abort rule paused again', 'PAUSED', 'ABORT_RULE', rule('PAUSE'), gate, 'abort rule'],
  ['an abort rule is ending', 'CANCELLING', undefined, rule('CANCEL'), gate, 'abort rule'],
  ['its health gate is ending', 'CANCELLING', undefined, rule('PAUSE'), gate, 'health gate'],
])(
  'an alert about a job that %s says so, and when',
  async (_, state, pauseReason, trippedRule, trippedGate, reason) => {
    const { jobId } = await fixture.runningJob();
    await fixture.db.query(
      {
        text: `UPDATE job SET state = $2::job_state, pause_reason = $3::pause_reason, tripped_rule = $4::jsonb,
        tripped_health_gate = $5::jsonb, conclusion = CASE WHEN $2 <> 'PAUSED' THEN 'ABORTED'::job_conclusion END,
        finished_at = CASE WHEN $2 = 'FINISHED' THEN to_timestamp($6::float8 / 1000) END WHERE id = $1`,
      },
      [
        jobId,
        state,
        pauseReason,
        trippedRule && JSON.stringify(trippedRule),
        trippedGate && JSON.stringify(trippedGate),
        ENDED_AT,
      ],
    );
    const stoppedAt = reason === 'health gate' ? GATE_AT : RULE_AT;
    const at = state === 'FINISHED' ? ENDED_AT : stoppedAt;
    const held = await heldOf(stoppedJobs({ windowSeconds: 600, devices: undefined }, () => 'TRUE', NOW));
    expect(held.filter(({ subject }) => subject === jobId)).toEqual([{ subject: jobId, reason, at }]);
  },
);

it('an alert about devices out of sync is about those online, and unsure after a restart of the hub', async () => {
  const [longOnline = '', back = '', away = '', returning = '', synced = ''] = await fixture.addDevices(5);
  const [driftedAt, backAt] = [NOW - 600_000, NOW - 60_000];
  const connect = 'UPDATE device SET connected_at = to_timestamp($2::float8 / 1000), online = $3 WHERE id = $1';
  const session = `INSERT INTO session (
      device_id, epoch, gateway_id, transport, connected_at, disconnected_at, close_reason)
    SELECT $1, 1, gen_random_uuid(), 'MQTT', at, at, $3 FROM to_timestamp($2::float8 / 1000) AS at`;
  await fixture.db.query({ text: connect }, [longOnline, driftedAt - 1_000, true]);
  await fixture.db.query({ text: connect }, [back, backAt, true]);
  for (const [id, closeReason] of [
    [away, 'lost'],
    [returning, 'hub_stopping'],
  ]) {
    await fixture.db.query({ text: connect }, [id, driftedAt - 1_000, false]);
    await fixture.db.query({ text: session }, [id, backAt, closeReason]);
  }
  const state = await states.create({ name: 'Quiet' });
  const drifted = [longOnline, back, away, returning].map((id) => targetOf(state, id, 'DRIFTED', { since: driftedAt }));
  const rows = [...drifted, targetOf(state, synced, 'IN_SYNC', { since: driftedAt })];
  await states.queue.write(fixture.owner, fencedWith(await states.fenceOf(state), rows));
  const reason = 'Quiet (DRIFTED)';
  const source = (now: number) => devicesOutOfSync(() => 'TRUE', { startedAt: NOW, graceMs: 135_000 }, now);
  expect(await heldOf(source(NOW))).toEqual([
    { subject: longOnline, reason, at: driftedAt },
    { subject: back, reason, at: backAt },
  ]);
  const unsure = async (now: number) => (await heldOf(source(now), false)).map(({ subject }) => subject);
  expect([await unsure(NOW + 134_000), await unsure(NOW + 136_000)]).toEqual([[returning], []]);
});

it('an alert about counted events ends when its device is removed', async () => {
  const [kept = '', removed = ''] = await fixture.addDevices(2);
  const at = Date.now();
  const type = 'device.restarted_unexpectedly';
  for (const deviceId of [kept, removed])
    await fixture.db.query(
      { text: `INSERT INTO event (id, type, device_id, data) VALUES (uuid_v7($1), $2, $3, '{}')` },
      [new Date(at - 1_000), type, deviceId],
    );
  const rule = { threshold: 1, windowSeconds: 600 };
  const subjects = async () =>
    (await heldOf(countedEvents(rule, type, () => 'TRUE', at))).map(({ subject }) => subject);
  expect(await subjects()).toEqual([kept, removed]);
  await fixture.db.query({ text: 'DELETE FROM device WHERE id = $1' }, [removed]);
  expect(await subjects()).toEqual([kept]);
});
