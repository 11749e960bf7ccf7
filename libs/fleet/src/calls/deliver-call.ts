/**
 * Delivers a single call to the gateway of its device. A gateway that stops sends nothing more:
 * then the call follows the device to its next gateway, until its deadline.
 */
import type { Bus, DirectoryEntry, RoutedCall } from '@flotilla/bus';
import type { Clock, SettledCall } from '@flotilla/session';
import { isBusAway } from './locate-device.js';

interface DeliveryDeps {
  readonly bus: Pick<Bus, 'calls' | 'directory'>;
  readonly clock: Clock;
}

/** Time between two looks for the next session of a device, ms. Devices need seconds to return. */
const LOOK_EVERY_MS = 250;

export async function deliverCall(
  deps: DeliveryDeps,
  { epoch, gatewayId }: DirectoryEntry,
  routed: RoutedCall,
): Promise<SettledCall> {
  const settled = await new Promise<SettledCall>((resolve) => deps.bus.calls.deliver(gatewayId, routed, resolve));
  if (settled.isMoving !== true) return settled;
  const next = await nextSession(deps, routed, epoch);
  return next === undefined ? settled : deliverCall(deps, next, routed);
}

/** Undefined if the device has not returned by the deadline of the call. */
async function nextSession(
  { bus, clock }: DeliveryDeps,
  { deviceId, call }: RoutedCall,
  formerEpoch: number,
): Promise<DirectoryEntry | undefined> {
  while (clock.now() + LOOK_EVERY_MS < call.queueDeadlineAt) {
    await new Promise<void>((resolve) => void clock.setTimer(LOOK_EVERY_MS, resolve));
    try {
      const entry = await bus.directory.lookup(deviceId);
      if (entry !== undefined && entry.epoch > formerEpoch) return entry;
    } catch (error) {
      if (!isBusAway(error)) throw error;
    }
  }
  return undefined;
}
