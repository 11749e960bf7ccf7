/** The devices that an image is for, as the wizard of a roll-out begins with them. */
import type { DeviceConditions } from '../devices/device-search';

/** Devices with one of these boards. */
export function boardFilter(models: readonly string[]): DeviceConditions {
  const [first, ...others] = models.map((model): DeviceConditions => ({ model }));
  if (first === undefined) return {};
  return others.length === 0 ? first : { any: [first, ...others] };
}
