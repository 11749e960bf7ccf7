/** The device and session for which a vision address is made. */
import type { DeviceId, VisionService } from '@flotilla/mcp';
import type { ReachedAt } from '../provisioning/device-addresses.js';

export interface VisionCustomer {
  readonly deviceId: DeviceId;
  /** Start of the session as PostgreSQL records it; ms since the Unix epoch. */
  readonly connectedAt: number;
  readonly reached: ReachedAt;
}

/** Returns undefined if the device receives no vision address. */
export type VisionFor = (customer: VisionCustomer) => VisionService | undefined;
