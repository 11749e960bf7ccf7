/**
 * Decides which addresses a webhook may reach: only the public internet. The creator of a webhook
 * administers the hub but not its network, and a name may resolve to another address tomorrow.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * IPv6 that is routed globally. Unique local, link-local, IPv4-compatible and site-local are
 * private.
 */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Whether the text is an IPv4 or IPv6 address of the public internet. A mapped IPv4 address counts
 * as IPv4. Other IPv4 addresses inside IPv6 (6to4, NAT64, Teredo) are not public.
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
