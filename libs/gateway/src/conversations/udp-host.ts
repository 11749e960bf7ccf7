/** The host of the UDP socket in a hello answer: a name or an IPv4 address. [xiaozhi §2.4] */
import { hostPattern } from '../placement/mqtt-addresses.js';

export interface UdpHosts {
  /** Sent to devices instead of the address that they reached. */
  readonly publicHost?: string | undefined;
  /** Sent to devices that reached the hub over IPv6. */
  readonly fallbackHost?: string | undefined;
}

/** Devices drop an answer without a host, so there always is one. */
const LAST_RESORT = '127.0.0.1';

const parsedByDevices = new RegExp(`^${hostPattern}$`);

export function udpHostFor(localAddress: string | undefined, { publicHost, fallbackHost }: UdpHosts): string {
  const isParsed = (host: string | undefined) => host !== undefined && parsedByDevices.test(host);
  return [publicHost, localAddress, fallbackHost].find(isParsed) ?? LAST_RESORT;
}
