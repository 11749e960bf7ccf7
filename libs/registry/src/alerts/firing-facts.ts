/** Gathers what the texts of a firing alert say: names, numbers, and the size of its group. */
import type { AlertFacts, Condition } from '@flotilla/signals';
import type { Transaction } from '../database/database.js';
import { deviceCondition } from '../devices/device-condition.js';
import { resolveFilter } from '../groups/resolve-filter.js';
import type { AlertRuleRow } from './alert.js';

/** Names of devices in the message of a group. */
const EXAMPLES_MAX = 3;
const NAMES = { text: 'SELECT d.id, coalesce(d.name, d.id) AS name FROM device d WHERE d.id = ANY ($1::text[])' };
const GROUP_NAME = { text: 'SELECT name FROM device_group WHERE id = $1::uuid' };

export async function factsOf(
  transaction: Transaction,
  rule: AlertRuleRow,
  conditions: readonly Condition[],
  isGroup: boolean,
): Promise<AlertFacts> {
  const ids = conditions.slice(0, EXAMPLES_MAX).flatMap(({ deviceId }) => deviceId ?? []);
  const names = await namesOf(transaction, ids);
  const began = conditions.map(({ beganAt }) => beganAt);
  const { kind, name: ruleName, threshold, below, windowSeconds, path } = rule;
  const group = await groupNameOf(transaction, rule);
  const common = {
    kind,
    ruleName,
    threshold,
    below,
    windowSeconds,
    path,
    group,
    beganFrom: least(began),
    beganTo: -least(began.map((at) => -at)),
  };
  if (isGroup) return { ...common, examples: names, total: await deviceTotal(transaction, rule) };
  const [condition] = conditions;
  return { ...common, ...(names[0] === undefined ? {} : { label: names[0] }), ...condition?.facts };
}

/** In the order of the ids; a device without a row is named by its id. */
async function namesOf(transaction: Transaction, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await transaction.query<{ id: string; name: string }>(NAMES, [ids]);
  const byId = new Map(rows.map(({ id, name }) => [id, name]));
  return ids.map((id) => byId.get(id) ?? id);
}

async function groupNameOf(transaction: Transaction, { devices }: AlertRuleRow): Promise<string | undefined> {
  if (devices?.groupId === undefined) return undefined;
  return (await transaction.query<{ name: string }>(GROUP_NAME, [devices.groupId]))[0]?.name;
}

async function deviceTotal(transaction: Transaction, { devices }: AlertRuleRow): Promise<number> {
  const values: unknown[] = [];
  const condition = deviceCondition(await resolveFilter(transaction, devices ?? { all: true }), values);
  const text = `SELECT count(*)::int AS count FROM device d WHERE ${condition}`;
  return (await transaction.query<{ count: number }>({ text }, values))[0]?.count ?? 0;
}

/** Without spreading many thousands of arguments. */
function least(values: readonly number[]): number {
  return values.reduce((lowest, value) => Math.min(lowest, value), Infinity);
}
