/**
 * Which addresses a webhook may reach: those of the public internet. Whoever makes a webhook is an admin of the hub, but not of the network that the hub
 * stands in, and a name may resolve to something else tomorrow.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv6 that is routed: all else (unique local, link-local, the deprecated IPv4-compatible and site-local ones) is somebody's own. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Whether the text is an address of the public internet: no private, loopback, link-local (with the clouds' metadata), carrier-grade NAT, multicast or
 * reserved one, be it IPv4 or IPv6, nor one of IPv4 in the clothes of IPv6 (mapped, 6to4, NAT64, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6);
}

/** The host of a URL if it is an address: IPv6 without its brackets. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}
