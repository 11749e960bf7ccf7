/**
 * Whether the hub may dial an address, checked at registration and at each connection. The hub
 * connects to the checked addresses, so a later change of DNS has no effect. Ports of the hub, its
 * database and Redis are never allowed.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  blockListOf,
  DialNetworks,
  isIn,
  loopbackNetworks,
  plainAddress,
  type DialNetworkOptions,
} from './dial-networks.js';

interface DialPlace {
  readonly host: string;
  readonly port: number;
}

interface DialRuleOptions extends DialNetworkOptions {
  /** Ports on which this process listens. Read for each address, because listeners open late. */
  readonly ownPorts: () => readonly number[];
  /** Servers that the hub itself needs. */
  readonly services: readonly DialPlace[];
}

type DialVerdict =
  | { readonly kind: 'allowed'; readonly addresses: readonly string[] }
  /** The name has no address at the moment. */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

const loopback = blockListOf(loopbackNetworks);

export class DialRules {
  readonly #networks: DialNetworks;

  constructor(private readonly options: DialRuleOptions) {
    this.#networks = new DialNetworks(options);
  }

  /** `byAdmin`: an administrator set the address. */
  async judge(address: string, byAdmin: boolean): Promise<DialVerdict> {
    const { host, port } = parseDialAddress(address);
    const found = await addressesOf(host);
    if (found.length === 0) return { kind: 'unknown', message: `No address is known for ${host}.` };
    const inNetworks = found.filter((each) => this.#networks.allows(each, byAdmin));
    const addresses: string[] = [];
    for (const each of inNetworks) if (!(await this.#isOwn(each, port))) addresses.push(each);
    if (addresses.length > 0) return { kind: 'allowed', addresses };
    const message = inNetworks.length > 0 ? ownDoor(address) : outside(address, byAdmin, this.options.isOnLoopback);
    return { kind: 'refused', message };
  }

  async #isOwn(address: string, port: number): Promise<boolean> {
    if (this.options.ownPorts().includes(port) && isOfThisMachine(address)) return true;
    for (const service of this.options.services) {
      if (service.port !== port) continue;
      const addresses = await addressesOf(service.host);
      if (addresses.includes(address) || (isOfThisMachine(address) && addresses.some(isOfThisMachine))) return true;
    }
    return false;
  }
}

export function parseDialAddress(address: string): DialPlace {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

/** Returns no addresses if the name has none at the moment. */
async function addressesOf(host: string): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [plainAddress(host)];
  const found = await lookup(host, { all: true }).catch(() => []);
  return [...new Set(found.map(({ address }) => plainAddress(address)))];
}

function isOfThisMachine(address: string): boolean {
  if (isIn(loopback, address)) return true;
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => plainAddress(entry.address) === address),
  );
}

function ownDoor(address: string): string {
  return `${address} is a port of the hub itself or of a server that it needs. Give the address of the board.`;
}

function outside(address: string, byAdmin: boolean, isOnLoopback: boolean): string {
  const listing = `List its network in FLOTILLA_DIAL_NETWORKS`;
  if (!byAdmin)
    return (
      `${address} is in no network that FLOTILLA_DIAL_NETWORKS lists. ` +
      `${listing}, or have an administrator without a device filter register the device.`
    );
  const also = isOnLoopback ? 'private networks and loopback' : 'private networks';
  return `${address} is outside the networks that may be dialled, which are ${also} and those listed. ${listing}.`;
}
