/** Which devices the hub dials, and which of its processes dials which: such a device takes one connection, and another one would wait mute. */
import type { DeviceId, HubProcessId } from '@flotilla/mcp';

export interface DialTarget {
  readonly deviceId: DeviceId;
  /** `host:port`. */
  readonly address: string;
  /** An administrator gave the address. */
  readonly byAdmin: boolean;
}

export interface DialStore {
  /**
   * Takes the devices that no living process dials, until `dialer` has `max`, and resolves to all that it has then; a device that is gone or has another
   * address is no longer among them as it was. Throws where `dialer` has no living lease.
   */
  take(dialer: HubProcessId, max: number): Promise<readonly DialTarget[]>;
}
