/** Which addresses count as one client where attempts and connections are bounded. */
import ipaddr from 'ipaddr.js';

/** One subscriber of IPv6 has a /64, and could use another address for each attempt. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString();
}
