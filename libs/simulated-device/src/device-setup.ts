/** What a simulated device is made of. */
import type { LastingBehaviour } from './behaviour/behaviour.js';
import type { DeviceFlash } from './connection/link.js';
import type { Pauses } from './connection/pauses.js';
import type { Network } from './connection/reconnect-plan.js';
import type { DeviceIdentity } from './identity.js';
import type { DeviceProfile } from './profile.js';

export interface DeviceSetup {
  readonly identity: DeviceIdentity;
  readonly profile: DeviceProfile;
  /** With an OTA address only until its answer has decided. */
  readonly transport: 'mqtt' | 'websocket';
  /**
   * Asked at each boot for the connection settings. Without it there is no boot, and the driver
   * knows the hub.
   */
  readonly otaUrl?: string | undefined;
  /** What it kept in an earlier life; without it the flash is empty. */
  readonly flash?: DeviceFlash | undefined;
  readonly network?: Network;
  /**
   * Numbers in [0, 1): battery, temperature, chances of behaviours, and the UUID after an erased
   * flash.
   */
  readonly random: () => number;
  readonly behaviours?: readonly LastingBehaviour[];
  readonly pauses?: Partial<Pauses>;
}
