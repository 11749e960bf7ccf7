/**
 * Whom a request comes from where proxies stand before the hub: the right-most address of the forwarding header that is not a trusted proxy's. What stands
 * further to the left was said by whoever asked, and a header counts at all only from a peer that is trusted. [RFC 7239 §5.2, §8.1]
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Which header the proxies write. The other one is whatever the client sent, and is not read. */
export type ForwardingHeader = 'x-forwarded-for' | 'forwarded';

export interface Client {
  /** IPv4 without the prefix of dual-stack sockets. */
  readonly address: string | undefined;
  /** A trusted proxy says that it was asked by HTTPS. */
  readonly isSecure: boolean;
}

/** One request on the way here: who made it, and how. */
interface Hop {
  /** Undefined: `unknown`, hidden by the proxy, or not an address. */
  readonly address: string | undefined;
  readonly protocol: string | undefined;
}

export type ForwardedRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** Characters of a header that are read, from its end: some twenty hops, and no proxy of ours stands further away. */
const HEADER_CHARACTERS_MAX = 2_000;

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /** `networks` without a problem. */
  constructor(
    networks: readonly string[],
    private readonly header: ForwardingHeader,
  ) {
    this.#isEmpty = networks.length === 0;
    for (const network of networks) {
      const [address = '', bits] = network.split('/', 2);
      this.#networks.addSubnet(address, Number(bits ?? bitsOf(address)), familyOf(address));
    }
  }

  readonly clientOf = ({ headers, socket }: ForwardedRequest): Client => {
    const peer = plainAddress(socket.remoteAddress);
    let client: Hop = { address: peer, protocol: undefined };
    if (peer === undefined || !this.#trusts(peer)) return { address: peer, isSecure: false };
    for (const hop of this.#hopsIn(headers).reverse()) {
      // As far as it is known: the proxy that hides who asked stands for them.
      client = { address: hop.address ?? client.address, protocol: hop.protocol };
      if (hop.address === undefined || !this.#trusts(hop.address)) break;
    }
    return { address: client.address, isSecure: client.protocol === 'https' || client.protocol === 'wss' };
  };

  /** A look into an empty list costs as much as one into a long list, and is made several times for each request. */
  #trusts(address: string): boolean {
    return !this.#isEmpty && this.#networks.check(address, familyOf(address));
  }

  /** The latest last. */
  #hopsIn(headers: IncomingMessage['headers']): Hop[] {
    const text = textOf(headers[this.header]);
    if (this.header === 'forwarded') return forwardedElements(text).map(hopOfElement);
    const protocol = textOf(headers['x-forwarded-proto']).split(',').at(-1)?.trim().toLowerCase();
    return text === ''
      ? [{ address: undefined, protocol }]
      : text.split(',').map((node) => ({ address: addressOf(node.trim()), protocol }));
  }
}

/** What is wrong with an entry of the list; undefined where nothing is. */
export function proxyProblem(network: string): string | undefined {
  const [address = '', bits = String(bitsOf(address))] = network.split('/', 2);
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > bitsOf(address))
    return `must list addresses and networks such as 10.0.0.7 or 10.0.0.0/8, not "${network}"`;
  return Number(bits) === 0
    ? `must not trust everybody, as ${network} does: then any client could name any address as its own`
    : undefined;
}

/** Whether the network has an address of this machine in it. */
export function isLoopbackProxy(network: string): boolean {
  const [address = '', bits = bitsOf(address)] = network.split('/', 2);
  const list = new BlockList();
  list.addSubnet(address, Number(bits), familyOf(address));
  return /^(127|::ffff:127)\./i.test(address) || list.check('127.0.0.1') || list.check('::1', 'ipv6');
}

function bitsOf(address: string): number {
  return isIP(address) === 6 ? 128 : 32;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function textOf(header: string | readonly string[] | undefined): string {
  return (typeof header === 'string' ? header : (header?.join(',') ?? '')).slice(-HEADER_CHARACTERS_MAX);
}

/** Divided at commas outside of quotes. */
function forwardedElements(text: string): readonly string[] {
  return text.match(/(?:[^",]|"(?:[^"\\]|\\.)*")+/g) ?? [];
}

/** Pairs one after the other: what stands in the quotes of one is not another. */
function hopOfElement(element: string): Hop {
  const pairs = element.matchAll(/\s*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^;"]*))\s*(?:;|$)/gy);
  const parameters = new Map(
    [...pairs].map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted ?? token ?? '']),
  );
  return { address: addressOf(parameters.get('for') ?? ''), protocol: parameters.get('proto')?.toLowerCase() };
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`. */
function addressOf(node: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(node)?.[1] ?? /^([\d.]+):\d+$/.exec(node)?.[1] ?? node;
  return isIP(bare) === 0 ? undefined : plainAddress(bare);
}

function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
