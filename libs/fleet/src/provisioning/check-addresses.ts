/** Checks the addresses of devices that the hub is asked to dial. */
import type { NewDevice } from '@flotilla/registry';
import { withTimeout, type Clock } from '@flotilla/session';
import type { Actor } from '../actor.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export interface AddressRules {
  readonly clock: Clock;
  /** Why the hub may not dial the address; gateways check again on each dial. */
  readonly refuseAddress?: (address: string, byAdmin: boolean) => Promise<string | undefined>;
}

/** A device of a request, and the path of its address there. */
export interface PlacedDevice {
  readonly device: NewDevice;
  readonly at: readonly string[];
}

/** Ms for a name to resolve. After that it is accepted, and gateways check it before they dial. */
const ADDRESS_MS = 5_000;
/** Time for the addresses of one request, ms. Callers do not wait longer. */
const ADDRESSES_MS = 30_000;
const namesTooSlow =
  'The names in the addresses could not be resolved in time. Give IP addresses, or try again when DNS answers.';

/**
 * A refusal for each address that may not be dialled. One after the other, because each name
 * occupies a thread while it is resolved. `path` leads to the list of devices.
 */
export async function* refusedAddresses(
  { clock, refuseAddress }: AddressRules,
  devices: readonly PlacedDevice[],
  path: readonly string[],
  actor: Pick<Actor, 'isAdmin'>,
): AsyncGenerator<Refusal, void, void> {
  if (refuseAddress === undefined) return;
  const until = clock.now() + ADDRESSES_MS;
  for (const { device, at } of devices) {
    if (device.address === undefined) continue;
    if (clock.now() >= until) return yield refuse('UNAVAILABLE', path, namesTooSlow);
    const checked = refuseAddress(device.address, actor.isAdmin === true);
    const message = await withTimeout(checked, ADDRESS_MS, clock, () => undefined);
    if (message !== undefined) yield refuse('INVALID', at, message);
  }
}
