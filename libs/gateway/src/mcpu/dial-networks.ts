/** Where the hub may dial: whoever registers a device names an address, and must not reach with it what only the hub can reach. */
import { lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

/** Networks in which microcontrollers are: the private ones, and this machine for serial servers. */
export const defaultDialNetworks: readonly string[] = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '::1/128',
  'fc00::/7',
];

/** What is wrong with a network in the form `address/bits`; undefined where nothing is. */
export function dialNetworkProblem(network: string): string | undefined {
  const [address = '', bits = ''] = network.split('/', 2);
  const bitsMax = isIP(address) === 4 ? 32 : 128;
  const isRight = isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax;
  return isRight ? undefined : `must list networks such as 192.168.0.0/16, not "${network}"`;
}

export class DialNetworks {
  readonly #allowed = new BlockList();

  /** `networks` without a problem. */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', bits = ''] = network.split('/', 2);
      this.#allowed.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
    }
  }

  allows(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#allowed.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }

  /** For `net.connect`: finds a name's address, and fails where it is outside the networks. Checked at each connection, because names may be given other addresses later. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = error ? [] : addresses.filter(({ address }) => this.allows(address));
      const [first] = allowed;
      if (first === undefined) callback(error ?? new Error(`${hostname} is not in a network that may be dialled`), '', 4);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
