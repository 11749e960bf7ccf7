/** Connections to public addresses only. What a name resolves to is judged at every connect, on the very addresses that are then connected to. */
import dns from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress, literalOf } from './public-address.js';

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** A connection that the rules forbid; nothing was sent. */
export class ForbiddenAddress extends Error {
  readonly code = 'URL_FORBIDDEN';

  constructor(hostname: string, address: string) {
    super(`${hostname}${address === hostname ? '' : ` resolves to ${address}, which`} is not an address of the public internet.`);
  }
}

export interface AgentLimits {
  /** Connections to one origin. */
  readonly connections: number;
  /** For each step of an attempt, ms. */
  readonly timeoutMs: number;
}

/** An agent of our own takes no proxy from the environment. */
export function openAgent({ connections, timeoutMs }: AgentLimits): Agent {
  return new Agent({ ...timeouts(timeoutMs), connections, connect: { timeout: timeoutMs } });
}

export function openGuardedAgent({ connections, timeoutMs }: AgentLimits): Agent {
  const connectTo = buildConnector({ timeout: timeoutMs, lookup: publicLookup });
  const connect: buildConnector.connector = (options, callback) => {
    // Nothing is looked up for an address, so a lookup alone would let all of them pass.
    const literal = literalOf(options.hostname);
    if (literal === undefined || isPublicAddress(literal)) connectTo(options, callback);
    else callback(new ForbiddenAddress(literal, literal), null);
  };
  return new Agent({ ...timeouts(timeoutMs), connections, connect });
}

function timeouts(timeoutMs: number) {
  return { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, pipelining: 1 };
}

function publicLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const forbidden = addresses.find(({ address }) => !isPublicAddress(address));
    if (forbidden !== undefined) return callback(new ForbiddenAddress(hostname, forbidden.address), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}
