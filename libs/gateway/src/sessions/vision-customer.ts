/** Whom the vision service is for: a device in one session, and the address at which it reached the hub. */
import type { DeviceId, VisionService } from '@flotilla/mcp';
import type { ReachedAt } from '../provisioning/device-addresses.js';

export interface VisionCustomer {
  readonly deviceId: DeviceId;
  /** When its session began, as PostgreSQL is told; ms since the Unix epoch. */
  readonly connectedAt: number;
  readonly reached: ReachedAt;
}

/** Undefined: the device is told of none. */
export type VisionFor = (customer: VisionCustomer) => VisionService | undefined;
