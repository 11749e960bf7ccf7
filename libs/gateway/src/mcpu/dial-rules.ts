/**
 * Whether the hub may dial an address, judged when a device is registered and again at each connection: the addresses that are judged are the ones that are
 * connected to, so a name that leads elsewhere later opens nothing. Never the hub's own doors, nor those of its database and Redis.
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

export interface DialPlace {
  readonly host: string;
  readonly port: number;
}

export interface DialRuleOptions extends DialNetworkOptions {
  /** Ports on which this process listens. Asked for each address: they are known when the listeners are open. */
  readonly ownPorts: () => readonly number[];
  /** Servers that the hub itself needs. */
  readonly services: readonly DialPlace[];
}

export type DialVerdict =
  | { readonly kind: 'allowed'; readonly addresses: readonly string[] }
  /** No address is known for the name now. */
  | { readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

const loopback = blockListOf(loopbackNetworks);

export class DialRules {
  readonly #networks: DialNetworks;

  constructor(private readonly options: DialRuleOptions) {
    this.#networks = new DialNetworks(options);
  }

  /** `byAdmin`: an administrator gave the address. */
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

/** None where the name has none now. */
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
    return `${address} is in no network that FLOTILLA_DIAL_NETWORKS lists. ${listing}, or have an administrator register the device.`;
  const also = isOnLoopback ? 'private networks and loopback' : 'private networks';
  return `${address} is outside the networks that may be dialled, which are ${also} and those listed. ${listing}.`;
}
