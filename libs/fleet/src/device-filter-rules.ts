/**
 * The rules for filters of changes and calls: they select devices explicitly, and are not longer
 * than a tag would be.
 */
import { inlineIdsMax } from '@flotilla/jobs';
import type { DeviceFilter } from '@flotilla/registry';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

/** Levels of `any` and `not`; each one is a level of SQL. */
const nestingMax = 5;
/** Alternatives in one `any`. */
const alternativesMax = 50;

export function refuseFilter(filter: DeviceFilter, path: readonly string[], depth = 0): Refusal | undefined {
  const { any, not, ...conditions } = filter;
  if (depth > nestingMax) return refuse('LIMIT_EXCEEDED', path, `A device filter nests at most ${nestingMax} levels.`);
  if (!Object.values(conditions).some(isCondition) && any === undefined && not === undefined) {
    return refuse('INVALID', path, 'The filter says nothing. The whole fleet is `all: true`.');
  }
  if (filter.outOfSync !== undefined)
    return refuse(
      'INVALID',
      [...path, 'outOfSync'],
      '`outOfSync` is for lists of devices: it changes with each comparison. Select the devices by a tag or group.',
    );
  if (filter.all === false) return refuse('INVALID', [...path, 'all'], '`all` is true or left out.');
  if (filter.ids !== undefined && filter.ids.length > inlineIdsMax) {
    return refuse(
      'LIMIT_EXCEEDED',
      [...path, 'ids'],
      `At most ${inlineIdsMax} ids can be written out; give the devices a tag instead.`,
    );
  }
  if (any !== undefined && (any.length === 0 || any.length > alternativesMax)) {
    return refuse(
      any.length === 0 ? 'INVALID' : 'LIMIT_EXCEEDED',
      [...path, 'any'],
      `\`any\` has 1 to ${alternativesMax} filters.`,
    );
  }
  for (const [index, alternative] of (any ?? []).entries()) {
    const refusal = refuseFilter(alternative, [...path, 'any', String(index)], depth + 1);
    if (refusal !== undefined) return refusal;
  }
  return not === undefined ? undefined : refuseFilter(not, [...path, 'not'], depth + 1);
}

function isCondition(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
}
