/**
 * The networks in which the hub may dial: those that the operator lists, and more if an
 * administrator set the address.
 */
import { BlockList, isIP } from 'node:net';

/**
 * Networks of microcontrollers, which an administrator may use without a setting. Link-local
 * networks, with services of clouds, are excluded.
 */
const privateNetworks = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'];
/** This machine, for serial servers and simulators. */
export const loopbackNetworks: readonly string[] = ['127.0.0.0/8', '::1/128'];

/** Returns what is wrong with a network in the form `address/bits`, if anything. */
export function dialNetworkProblem(network: string): string | undefined {
  const [address = '', bits = ''] = network.split('/', 2);
  const bitsMax = isIP(address) === 4 ? 32 : 128;
  const isRight = isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax;
  return isRight ? undefined : `must list networks such as 192.168.0.0/16, not "${network}"`;
}

export interface DialNetworkOptions {
  /** Valid networks. Anyone who may register devices may use addresses in them. */
  readonly listed: readonly string[];
  /** The hub listens only on loopback, so its callers can reach the same addresses. */
  readonly isOnLoopback: boolean;
}

export class DialNetworks {
  readonly #listed: BlockList;
  readonly #admin: BlockList;

  constructor({ listed, isOnLoopback }: DialNetworkOptions) {
    this.#listed = blockListOf(listed);
    this.#admin = blockListOf([...listed, ...privateNetworks, ...(isOnLoopback ? loopbackNetworks : [])]);
  }

  /** `address` as `plainAddress` returns it. */
  allows(address: string, byAdmin: boolean): boolean {
    return isIn(byAdmin ? this.#admin : this.#listed, address);
  }
}

export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/', 2);
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

export function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Converts IPv4 inside IPv6 to IPv4, the unspecified address to loopback, and drops the zone. */
export function plainAddress(address: string): string {
  const [bare = ''] = address.split('%', 1);
  if (isIP(bare) !== 6) return bare === '0.0.0.0' ? '127.0.0.1' : bare;
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  if (canonical === '::') return '::1';
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const bytes = [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]);
  return plainAddress(bytes.join('.'));
}
