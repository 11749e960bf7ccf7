/** Values that devices report and no tool sets, as sensors. */
import { isJsonObject, isSecretMember } from '@flotilla/mcp';
import { fitsState } from './control.js';
import type { Entity } from './entity.js';
import { titleOf } from './slug.js';
import { propertyName } from './writers.js';

interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

const leavesMax = 64;
const levelsMax = 6;

/** What Home Assistant should know about values of known names, by the end of their path. */
const known: readonly (readonly [RegExp, Readonly<Record<string, unknown>>])[] = [
  [/(?:^|\.)battery\.level$/, { device_class: 'battery', unit_of_measurement: '%' }],
  [/(?:^|\.)battery\.charging$/, { device_class: 'battery_charging' }],
  [/(?:^|\.)temperature$/, { device_class: 'temperature', unit_of_measurement: '°C' }],
  [/(?:^|\.)humidity$/, { device_class: 'humidity', unit_of_measurement: '%' }],
];

/** The simple values in the answers of status tools, by property. */
export function leavesOf(state: Readonly<Record<string, unknown>>): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const walk = (tool: string, value: unknown, names: readonly string[]): void => {
    if (leaves.size >= leavesMax || names.length > levelsMax) return;
    if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value))
        if (!isSecretMember(name, member)) walk(tool, member, [...names, name]);
    } else if (isScalar(value) && names.length > 0) {
      const path = names.join('.');
      leaves.set(propertyName(tool, path), { path, value });
    }
  };
  for (const [tool, answer] of Object.entries(state)) walk(tool, answer, []);
  return leaves;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && isFinite(value));
}

export function sensorOf(key: string, path: string, value: unknown): Entity {
  const name = titleOf(path);
  const fields = known.find(([pattern]) => pattern.test(path))?.[1] ?? {};
  if (typeof value === 'boolean') {
    const payloads = { payload_on: 'ON', payload_off: 'OFF' };
    const binary = fields['unit_of_measurement'] === undefined ? fields : {};
    return { platform: 'binary_sensor', key, name, fields: { ...binary, ...payloads }, value: value ? 'ON' : 'OFF' };
  }
  if (typeof value === 'number')
    return { platform: 'sensor', key, name, fields: { ...fields, state_class: 'measurement' }, value };
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return { platform: 'sensor', key, name, fields: {}, value: fitsState(text) ? text : null };
}
