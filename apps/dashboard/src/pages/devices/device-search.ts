/**
 * The filter of the Devices page as its address carries it: conditions with the names of
 * DeviceFilter, and the order.
 */
import type { DeviceFilter, Dialect, TransportKind } from './generated/devices';
import { isObject } from '../../parts/unknown-values';

/** All hold. `any` and `not` nest, as they do in DeviceFilter. */
export interface DeviceConditions {
  readonly search?: string;
  readonly ids?: readonly string[];
  readonly presence?: 'ONLINE' | 'OFFLINE';
  readonly model?: string;
  readonly firmwareVersion?: string;
  readonly firmwareBefore?: string;
  readonly tags?: readonly string[];
  readonly dialect?: Dialect;
  readonly transport?: TransportKind;
  readonly hasTool?: string;
  readonly toolsStale?: boolean;
  readonly outOfSync?: boolean;
  readonly lastSeenBefore?: string;
  readonly groupId?: string;
  readonly any?: readonly DeviceConditions[];
  readonly not?: DeviceConditions;
}

export interface DeviceSearch extends DeviceConditions {
  readonly orderBy?: DeviceOrder;
}

export type DeviceOrder = 'ID_ASC' | 'NAME_ASC' | 'LAST_SEEN_DESC';

/** Conditions that are free text. */
const textConditions = ['model', 'firmwareVersion', 'firmwareBefore', 'hasTool'] as const;
/** Lists the values of a type. A missing or an unknown one does not compile. */
function eachOf<Value extends string>(values: Readonly<Record<Value, true>>): readonly Value[] {
  return Object.keys(values) as Value[];
}

/** Conditions with few values. */
export const choiceConditions = {
  presence: ['ONLINE', 'OFFLINE'],
  transport: eachOf<TransportKind>({ MQTT: true, WEBSOCKET: true, TCP: true }),
  dialect: eachOf<Dialect>({ XIAOZHI: true, MCPU: true }),
} as const;
const orders: readonly DeviceOrder[] = ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC'];

/** Levels of `any` and `not`; the hub takes no more. */
const depthMax = 5;

/** What of an address is understood; the rest is left out. */
export function parseDeviceSearch(raw: Readonly<Record<string, unknown>>): DeviceSearch {
  const found = parseConditions(raw, 1);
  const orderBy = orders.find((order) => order === raw['orderBy']);
  return orderBy === undefined ? found : { ...found, orderBy };
}

function parseConditions(raw: Readonly<Record<string, unknown>>, depth: number): DeviceConditions {
  const found: Record<string, unknown> = {};
  for (const name of ['search', 'lastSeenBefore', 'groupId', ...textConditions] as const) {
    const value = textIn(raw[name]);
    if (value !== undefined) found[name] = value;
  }
  for (const [name, values] of Object.entries(choiceConditions)) {
    if ((values as readonly unknown[]).includes(raw[name])) found[name] = raw[name];
  }
  for (const name of ['toolsStale', 'outOfSync'] as const) {
    if (typeof raw[name] === 'boolean') found[name] = raw[name];
  }
  for (const name of ['ids', 'tags'] as const) {
    const texts = (Array.isArray(raw[name]) ? raw[name] : [raw[name]]).map(textIn).filter((text) => text !== undefined);
    if (texts.length > 0) found[name] = texts;
  }
  if (depth === depthMax) return found;
  const nested = (value: unknown) => (isObject(value) ? parseConditions(value, depth + 1) : {});
  const any = (Array.isArray(raw['any']) ? raw['any'] : []).map(nested).filter(hasCondition);
  if (any.length > 0) found['any'] = any;
  const not = nested(raw['not']);
  if (hasCondition(not)) found['not'] = not;
  return found;
}

/** A version such as 2.1 is read from an address as a number. */
function textIn(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function hasCondition(conditions: DeviceConditions): boolean {
  return Object.values(conditions).some((value) => value !== undefined);
}

export function conditionsOf(search: DeviceSearch): DeviceConditions {
  return without(search, ['orderBy']);
}

/** Undefined where there is no condition: the whole fleet. */
export function filterOf(search: DeviceSearch): DeviceFilter | undefined {
  const conditions = conditionsOf(search);
  return hasCondition(conditions) ? conditions : undefined;
}

/**
 * Whether the filter is only for looking. It changes with each comparison of desired states, so the
 * hub refuses it for changes, jobs, groups, keys and rules.
 */
export function isForListsOnly(conditions: DeviceConditions): boolean {
  const { outOfSync, any, not } = conditions;
  return outOfSync !== undefined || [...listIn(any), ...listIn(not)].filter(hasFields).some(isForListsOnly);
}

export type SaveHindrance = 'groupNeedsFilter' | 'groupNotOutOfSync';

/** Why no group can keep the filter: one keeps conditions, and no other group. */
export function hindranceToSave(search: DeviceSearch): SaveHindrance | undefined {
  if (search.groupId !== undefined || filterOf(search) === undefined) return 'groupNeedsFilter';
  return isForListsOnly(search) ? 'groupNotOutOfSync' : undefined;
}

/** What must hold, what must not, and what is enough beside others. */
export const conditionModes = ['must', 'not', 'any'] as const;
export type ConditionMode = (typeof conditionModes)[number];

/** Adds one condition to a filter. A condition with one value replaces the former value. */
export function withCondition(
  search: DeviceSearch,
  added: DeviceConditions,
  mode: ConditionMode,
): Partial<DeviceSearch> {
  if (mode === 'any') return { any: [...listIn(search.any), added] };
  if (mode === 'not') return { not: { any: [...excludedBy(search), added] } };
  if (added.tags === undefined) return added;
  return { ...added, tags: [...new Set([...listIn(search.tags), ...added.tags])] };
}

/** What devices must not be, one by one: none of several is the complement of any of them. */
export function excludedBy({ not }: DeviceConditions): readonly DeviceConditions[] {
  if (not === undefined || !hasFields(not)) return listIn(not);
  const { any, ...others } = not;
  return any === undefined || hasCondition(others) ? [not] : listIn(any);
}

/** An address may have another value than conditions. */
export function hasFields(conditions: DeviceConditions): boolean {
  return isObject(conditions);
}

/** An address may have another value than a list. It counts as one, and the hub refuses it. */
export function listIn<Value>(value: Value | readonly Value[] | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value as Value];
}

/** What is undefined is not there either. */
function without<Value extends object, Name extends keyof Value>(
  value: Value,
  names: readonly Name[],
): Omit<Value, Name> {
  const kept = Object.entries(value).filter(
    ([name, part]) => part !== undefined && !(names as readonly string[]).includes(name),
  );
  return Object.fromEntries(kept) as Omit<Value, Name>;
}
