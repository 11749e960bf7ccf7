/**
 * Allows connections only to the public internet: those of webhooks, and to voice servers that are
 * not listed. The lookup of each connection is judged, and the connection uses its result, so a
 * name that resolves differently a moment later gains nothing.
 */
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress, literalOf } from './public-address.js';

/** A connection that the rules forbid; nothing was sent. */
class ForbiddenAddress extends Error {
  readonly code = 'URL_FORBIDDEN';

  constructor(hostname: string, address: string) {
    super(`${hostname}${address === hostname ? '' : ` resolves to ${address}, which`} is not a public address.`);
  }
}

/** Why an IP address may not be reached; undefined for a public one, and for a name. */
function refuse(hostname: string): ForbiddenAddress | undefined {
  const literal = literalOf(hostname);
  return literal === undefined || isPublicAddress(literal) ? undefined : new ForbiddenAddress(literal, literal);
}

/** As `dns.lookup`, but it fails where one of the addresses is not public. */
const lookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const forbidden = addresses.find(({ address }) => !isPublicAddress(address));
    if (forbidden !== undefined) return callback(new ForbiddenAddress(hostname, forbidden.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

export const publicOnly = { refuse, lookup };
