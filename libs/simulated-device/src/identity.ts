/**
 * The identity of a simulated device: MAC, UUID and MQTT client id. The same seed and index give
 * the same device.
 */
import { seededRandom } from './behaviour/seeded-random.js';

export interface DeviceIdentity {
  /**
   * `02:ss:ss:ii:ii:ii`: locally administered, seed (16 bits), index (24 bits). The device id in
   * the hub.
   */
  readonly mac: string;
  /** UUID v4 in lower case, the `Client-Id` of a WebSocket handshake. */
  readonly uuid: string;
  /** `GROUP@@@MAC@@@UUID`, the client id over MQTT. [xiaozhi §2.8] */
  readonly clientId: string;
}

interface IdentitySeed {
  readonly seed: number;
  readonly index: number;
  /** Board name; becomes `GID_<board>`. */
  readonly board: string;
}

/** The identity of the device `index` of the fleet `seed`. */
export function identityOf({ seed, index, board }: IdentitySeed): DeviceIdentity {
  const digits = hex(seed & 0xffff, 4) + hex(index & 0xffffff, 6);
  const mac = ['02', ...(digits.match(/../g) ?? [])].join(':');
  const random = seededRandom(Math.imul(seed + 1, 0x9e3779b1) ^ index);
  return identityWith({ mac, uuid: uuidFrom(random), board });
}

/** An identity of given parts, for devices that share a MAC or whole credentials with another. */
export function identityWith({
  mac,
  uuid,
  board,
}: {
  readonly mac: string;
  readonly uuid: string;
  readonly board: string;
}): DeviceIdentity {
  return { mac, uuid, clientId: `GID_${board}@@@${mac.replaceAll(':', '_')}@@@${uuid}` };
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** A version 4 UUID in lower case. */
export function uuidFrom(random: () => number): string {
  const word = () => hex(Math.floor(random() * 0x1_0000_0000), 8);
  const [a, b, c, d] = [word(), word(), word(), word()];
  const variant = hex((Number.parseInt(c.slice(0, 1), 16) & 0x3) | 0x8, 1);
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
