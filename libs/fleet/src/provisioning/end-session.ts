/** Ends the session of a device whose credentials are void, wherever it is connected. */
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { FleetLogger } from '../fleet-logger.js';

export interface SessionEnd {
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed'>;
  readonly logger: FleetLogger;
}

/**
 * An unreachable gateway has lost its lease and sessions. During a greeting no directory knows the
 * device, so all gateways are notified.
 */
export async function endSession({ bus, logger }: SessionEnd, deviceId: DeviceId): Promise<void> {
  bus.feed.publish('expelled', { deviceId });
  try {
    const entry = await bus.directory.lookup(deviceId);
    if (entry !== undefined) await bus.calls.disconnect(entry.gatewayId, deviceId);
  } catch (error) {
    logger.warn({ err: error, deviceId }, 'could not end the session of a device whose credentials are void');
  }
}
