import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AlertRulePlan, AlertRuleRow } from '../index.js';
import { openRegistryFixture } from '../registry-fixture.suite.js';
import type { RegistryFixture } from '../registry-fixture.suite.js';
import { givenSubjects } from './condition-sources.js';

const NOW = 1_800_000_000_000;
const hub = { startedAt: 0, graceMs: 0 };
/** Each takes the place of the former one, whose lease is over. */
let evaluators = 0;
const plan: AlertRulePlan = {
  name: 'Offline',
  kind: 'DEVICE_OFFLINE',
  devices: undefined,
  severity: 'WARNING',
  forSeconds: 0,
  threshold: undefined,
  path: undefined,
  below: false,
  windowSeconds: 600,
  groupAbove: 5,
  repeatEverySeconds: undefined,
  channelIds: [],
  enabled: false,
};

let fixture: RegistryFixture;

beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

async function addRule(more: Partial<AlertRulePlan> = {}): Promise<AlertRuleRow> {
  const change = { at: NOW, by: { actor: 'the spec' }, rulesMax: 20 };
  const made = await fixture.registry.alertRules.create({ ...plan, ...more }, change);
  if (made.kind !== 'saved') throw new TypeError(made.kind);
  return made.rule;
}

it('reports to webhooks at once that an alert fired, and that it was acknowledged', async () => {
  const { alertEvaluation, alerts, events, webhooks } = fixture.registry;
  const hook = { url: 'https://receiver.example/hook', types: ['alert.*'], enabled: true, secret: 's' };
  await webhooks.create(hook, { webhooksMax: 1, at: NOW });
  let pending = 0;
  events.whenPending(() => (pending += 1));
  const rule = await addRule({ name: 'Hub', kind: 'HUB_UNHEALTHY' });
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW, 60_000);
  const source = givenSubjects([{ subject: 'queue', facts: { label: 'queue' } }], NOW);
  await alertEvaluation.evaluate(processId, rule, source, { hub, now: NOW });
  expect(pending).toBe(1);
  const [alert] = (await alerts.page({ ruleId: rule.id }, { first: 1 })).rows;
  for (const note of [undefined, 'first', 'second', 'second', undefined])
    await alerts.acknowledge(alert?.id ?? '', note, { at: NOW, by: { actor: 'the spec' } });
  expect(pending).toBe(4);
  await alertEvaluation.evaluate(processId, rule, undefined, { hub, now: NOW });
  expect(pending).toBe(5);
});

it('keeps the latest note of an alert that is acknowledged again, with the person who wrote it', async () => {
  const { alertEvaluation, alerts } = fixture.registry;
  const rule = await addRule({ name: 'Notes', kind: 'HUB_UNHEALTHY' });
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW + 60_001, 60_000);
  await alertEvaluation.evaluate(processId, rule, givenSubjects([{ subject: 'queue', facts: {} }], NOW), {
    hub,
    now: NOW,
  });
  const [{ id } = { id: '' }] = (await alerts.page({ ruleId: rule.id }, { first: 1 })).rows;
  const acknowledge = (actor: string, note: string | undefined, at: number) =>
    alerts.acknowledge(id, note, { at, by: { actor } });
  await acknowledge('Ann', 'I look at it.', NOW);
  const others = await acknowledge('Bob', 'A part is ordered.', NOW + 1);
  const latest = { acknowledgedBy: 'Bob', acknowledgedAt: NOW + 1, note: 'A part is ordered.' };
  expect(others).toMatchObject({ alert: latest, event: { data: { by: 'Bob', note: latest.note } } });
  const without = await acknowledge('Ann', undefined, NOW + 2);
  expect([without?.alert, without?.event]).toMatchObject([latest, undefined]);
});

it('resolves an alert about the devices of a large fleet without delay', async () => {
  const { alertEvaluation } = fixture.registry;
  const rule = await addRule();
  const alertId = randomUUID();
  const devices = 20_000;
  await fixture.raw.query(
    `INSERT INTO alert (id, rule_id, severity, is_group, device_count, facts, fired_at)
     VALUES ($1, $2, 'WARNING', true, $3, '{}', now())`,
    [alertId, rule.id, devices],
  );
  await fixture.raw.query(
    `WITH members AS (
       INSERT INTO alert_device (alert_id, device_id, began_at)
       SELECT $1, 'device ' || n, now() FROM generate_series(1, $3::int) n)
     INSERT INTO alert_condition (rule_id, subject, device_id, began_at, by_hub, facts, alert_id, fired_at)
     SELECT $2, 'device ' || n, 'device ' || n, now(), false, '{}', $1, now() FROM generate_series(1, $3::int) n`,
    [alertId, rule.id, devices],
  );
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW + 120_002, 60_000);
  const events = await alertEvaluation.evaluate(processId, rule, undefined, { hub, now: NOW });
  expect(events).toMatchObject([{ type: 'alert.resolved', data: { alertId, deviceCount: devices } }]);
});

it('fires nothing by a rule that was deleted or snoozed since it was read', async () => {
  const { alertEvaluation, alertRules, alerts } = fixture.registry;
  const origin = { at: NOW, by: { actor: 'the spec' } };
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW + 180_000, 60_000);
  const source = givenSubjects([{ subject: 'queue', facts: { label: 'queue' } }], NOW);
  const evaluated = (rule: AlertRuleRow) => alertEvaluation.evaluate(processId, rule, source, { hub, now: NOW });
  const [deleted, snoozed] = [await addRule({ name: 'Deleted' }), await addRule({ name: 'Snoozed' })];
  await alertRules.remove(deleted.id, origin);
  await alertRules.snooze(snoozed.id, undefined, NOW + 1_000, origin);
  expect(await evaluated(deleted)).toEqual([]);
  expect(await evaluated(snoozed)).toEqual([]);
  for (const ruleId of [deleted.id, snoozed.id]) expect((await alerts.page({ ruleId }, { first: 1 })).rows).toEqual([]);
});

const measured: Partial<AlertRulePlan> = { kind: 'MEASUREMENT', path: 'status:battery.level', threshold: 20 };
const share: Partial<AlertRulePlan> = { kind: 'FLEET_OFFLINE_SHARE', devices: { tags: ['shop'] } };

it.each<[string, Partial<AlertRulePlan>, Partial<AlertRulePlan>, boolean]>([
  ['another path', measured, { path: 'status:temperature' }, true],
  ['another direction', measured, { below: true }, true],
  ['another threshold', measured, { threshold: 30 }, false],
  ['other devices with a measurement', measured, { devices: { tags: ['shop'] } }, false],
  ['another part of the fleet', share, { devices: { tags: ['school'] } }, true],
  ['the same part of the fleet', share, { forSeconds: 60 }, false],
])('resolves what fires by a rule that is now about %s only if it was about something else', async (...given) => {
  const [name, former, change, isOther] = given;
  const { alertEvaluation, alertRules, alerts } = fixture.registry;
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW + 300_000 + evaluators++ * 60_001, 60_000);
  const rule = await addRule({ name, ...former });
  const source = givenSubjects([{ subject: 'd1', facts: {} }], NOW);
  const evaluated = async (changed: AlertRuleRow, now: number) =>
    (await alertEvaluation.evaluate(processId, changed, source, { hub, now }))?.map(({ type }) => type);
  await evaluated(rule, NOW);
  expect(await evaluated(rule, NOW + 10_000)).toEqual(former.kind === 'MEASUREMENT' ? ['alert.fired'] : []);
  const plan = { ...rule, ...change };
  const saved = await alertRules.update(rule.id, plan, { at: NOW + 11_000, by: { actor: 'the spec' } });
  if (saved.kind !== 'saved') throw new TypeError(saved.kind);
  expect(await evaluated(saved.rule, NOW + 12_000)).toEqual(isOther ? ['alert.resolved'] : []);
  const { rows } = await alerts.page({ ruleId: rule.id, state: 'FIRING' }, { first: 2 });
  expect(rows).toHaveLength(isOther ? 0 : 1);
});

it('lets no device join a group about the former path, or count with its devices', async () => {
  const { alertEvaluation, alertRules, alerts } = fixture.registry;
  const processId = randomUUID();
  await alertEvaluation.take(processId, NOW + 300_000 + evaluators++ * 60_001, 60_000);
  const rule = await addRule({ name: 'Group', ...measured, groupAbove: 2 });
  const evaluated = async (changed: AlertRuleRow, subjects: readonly string[], now: number) => {
    const source = givenSubjects(
      subjects.map((subject) => ({ subject, facts: {} })),
      NOW,
    );
    return (await alertEvaluation.evaluate(processId, changed, source, { hub, now }))?.map(({ type }) => type);
  };
  await evaluated(rule, ['d1', 'd2', 'd3'], NOW);
  expect(await evaluated(rule, ['d1', 'd2', 'd3'], NOW + 10_000)).toEqual(['alert.fired']);
  const plan = { ...rule, path: 'status:temperature' };
  const saved = await alertRules.update(rule.id, plan, { at: NOW + 11_000, by: { actor: 'the spec' } });
  if (saved.kind !== 'saved') throw new TypeError(saved.kind);
  const events = await evaluated(saved.rule, ['d4', 'd5'], NOW + 12_000);
  expect(events).toEqual(['alert.fired', 'alert.fired', 'alert.resolved']);
  const { rows } = await alerts.page({ ruleId: rule.id, state: 'FIRING' }, { first: 3 });
  expect(rows.map(({ isGroup }) => isGroup)).toEqual([false, false]);
});
