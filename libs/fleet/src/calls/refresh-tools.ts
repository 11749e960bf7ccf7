/** Asks a device to list its tools again. */
import { BusError } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import type { Registry } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import type { FleetLogger } from '../fleet-logger.js';
import { noSuchDevice, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { isBusAway, locateDevice, redisAway } from './locate-device.js';

interface RefreshToolsDeps {
  readonly registry: Pick<Registry, 'viewFor'>;
  readonly bus: Pick<Bus, 'calls' | 'directory'>;
  readonly logger: FleetLogger;
}

const gatewaySilent = 'The gateway of the device took the request and did not answer. Try again later.';

export async function refreshTools(
  { registry, bus, logger }: RefreshToolsDeps,
  deviceId: string,
  actor: Actor,
): Promise<{ readonly refusal?: Refusal }> {
  const device = await registry.viewFor(actor).devices.find(deviceId);
  if (device === undefined) return { refusal: noSuchDevice(deviceId, ['deviceId']) };
  const { entry, refusal } = await locateDevice(bus.directory, device.id);
  if (refusal !== undefined) return { refusal };
  try {
    if (entry !== undefined && (await bus.calls.refreshTools(entry.gatewayId, entry.deviceId))) return {};
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    logger.warn({ err: error, deviceId }, 'could not ask a device for its tools');
    return { refusal: isBusAway(error) ? redisAway : refuse('UNAVAILABLE', ['deviceId'], gatewaySilent) };
  }
  return { refusal: refuse('DEVICE_OFFLINE', ['deviceId'], 'The device is not connected.') };
}
