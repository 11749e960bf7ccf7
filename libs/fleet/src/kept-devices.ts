/** The devices of a plan that a limited key has saved, when another person edits it. */
import { isDeepStrictEqual } from 'node:util';
import { givenFilter } from '@flotilla/registry';
import type { DeviceFilter } from '@flotilla/registry';
import type { Actor } from './actor.js';

/**
 * An edit that sends back the filter that it was shown stays within the scope of that key. The
 * scope is not shown, so the edit would widen the plan to devices that its author has not seen.
 */
export function keptDevices(asked: DeviceFilter, former: DeviceFilter, actor: Actor): DeviceFilter {
  const isAsShown = isDeepStrictEqual(storedFilter(asked), storedFilter(givenFilter(former)));
  return isAsShown && actor.devices === undefined ? former : asked;
}

/** As PostgreSQL has it, without undefined members. */
export function storedFilter(devices: DeviceFilter): unknown {
  return JSON.parse(JSON.stringify(devices));
}
