/**
 * Looks up the gateway of a device. In a hub of several processes the directory is in Redis, which
 * may be unavailable.
 */
import { BusError } from '@flotilla/bus';
import type { DirectoryEntry, SessionDirectory } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

/** `entry` is undefined where the device is not connected. */
interface Located {
  readonly entry?: DirectoryEntry | undefined;
  readonly refusal?: Refusal;
}

export const redisAway = refuse(
  'UNAVAILABLE',
  [],
  'Redis, over which the processes of the hub reach each other, does not answer. Nothing was sent. Try again later.',
);

/** Logs nothing: the bus has logged the outage, and calls may come by the thousand. */
export async function locateDevice(directory: Pick<SessionDirectory, 'lookup'>, deviceId: DeviceId): Promise<Located> {
  try {
    return { entry: await directory.lookup(deviceId) };
  } catch (error) {
    if (isBusAway(error)) return { refusal: redisAway };
    throw error;
  }
}

export function isBusAway(error: unknown): boolean {
  return error instanceof BusError && error.code === 'BUS_UNAVAILABLE';
}
