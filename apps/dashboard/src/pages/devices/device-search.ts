/** The filter of the Devices page as its address carries it: conditions by their names in DeviceFilter, and the order. */
import type { DeviceFilter } from './generated/devices';

export interface DeviceSearch {
  readonly search?: string;
  readonly presence?: 'ONLINE' | 'OFFLINE';
  readonly model?: string;
  readonly firmwareVersion?: string;
  readonly firmwareBefore?: string;
  readonly tags?: readonly string[];
  readonly dialect?: 'XIAOZHI' | 'MCPU';
  readonly transport?: 'MQTT' | 'WEBSOCKET' | 'TCP';
  readonly hasTool?: string;
  readonly toolsStale?: boolean;
  readonly lastSeenBefore?: string;
  readonly groupId?: string;
  readonly orderBy?: DeviceOrder;
}

export type DeviceOrder = 'ID_ASC' | 'NAME_ASC' | 'LAST_SEEN_DESC';

/** Conditions that are free text. */
export const textConditions = ['model', 'firmwareVersion', 'firmwareBefore', 'hasTool'] as const;
/** Conditions with few values. */
export const choiceConditions = {
  presence: ['ONLINE', 'OFFLINE'],
  transport: ['MQTT', 'WEBSOCKET', 'TCP'],
  dialect: ['XIAOZHI', 'MCPU'],
} as const;
export const orders: readonly DeviceOrder[] = ['ID_ASC', 'NAME_ASC', 'LAST_SEEN_DESC'];

/** What of an address is understood; the rest is left out. */
export function parseDeviceSearch(raw: Readonly<Record<string, unknown>>): DeviceSearch {
  const found: Record<string, unknown> = {};
  for (const name of ['search', 'lastSeenBefore', 'groupId', ...textConditions] as const) {
    const value = textIn(raw[name]);
    if (value !== undefined) found[name] = value;
  }
  for (const [name, values] of Object.entries(choiceConditions)) {
    if ((values as readonly unknown[]).includes(raw[name])) found[name] = raw[name];
  }
  if ((orders as readonly unknown[]).includes(raw['orderBy'])) found['orderBy'] = raw['orderBy'];
  if (typeof raw['toolsStale'] === 'boolean') found['toolsStale'] = raw['toolsStale'];
  const tags = (Array.isArray(raw['tags']) ? raw['tags'] : [raw['tags']]).map(textIn).filter((tag) => tag !== undefined);
  if (tags.length > 0) found['tags'] = tags;
  return found as DeviceSearch;
}

/** A version such as 2.1 is read from an address as a number. */
function textIn(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Without the order. */
export type DeviceConditions = Omit<DeviceSearch, 'orderBy'>;

export function conditionsOf(search: DeviceSearch): DeviceConditions {
  return without(search, ['orderBy']);
}

/** Undefined where there is no condition: the whole fleet. */
export function filterOf(search: DeviceSearch): DeviceFilter | undefined {
  const conditions = conditionsOf(search);
  return Object.keys(conditions).length === 0 ? undefined : conditions;
}

/** By what does not change while one looks: a device that stops matching by its presence is still told of. Undefined: every device. */
export function stayingFilterOf(filter: DeviceFilter | undefined): DeviceFilter | undefined {
  const stays = without(filter ?? {}, ['presence', 'toolsStale', 'lastSeenBefore']);
  return Object.keys(stays).length === 0 ? undefined : stays;
}

/** What is undefined is not there either. */
function without<Value extends object, Name extends keyof Value>(value: Value, names: readonly Name[]): Omit<Value, Name> {
  const kept = Object.entries(value).filter(([name, part]) => part !== undefined && !(names as readonly string[]).includes(name));
  return Object.fromEntries(kept) as Omit<Value, Name>;
}
