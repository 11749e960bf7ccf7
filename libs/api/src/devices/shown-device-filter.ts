/** The filter of a rule, desired state or recurring job for a viewer. [docs/keys.md] */
import { filterIdsIn, givenFilter, withIdsOf } from '@flotilla/registry';
import type { DeviceFilter } from '@flotilla/registry';
import type { Reader } from '../calls/shown-arguments.js';
import { showDeviceFilter } from './device-filter-input.js';

/**
 * As the client gave it: not limited to its access scope. A limited key sees no ids of other
 * devices in it, as in the filters of groups.
 */
export async function shownDeviceFilter(
  stored: DeviceFilter,
  { viewer, loaders }: Reader,
): Promise<Readonly<Record<string, unknown>>> {
  const filter = givenFilter(stored);
  if (viewer.devices === undefined) return showDeviceFilter(filter);
  const found = await Promise.all(filterIdsIn(filter).map((id) => loaders.device.load(id)));
  return showDeviceFilter(withIdsOf(filter, new Set(found.flatMap((device) => device?.id ?? []))));
}
