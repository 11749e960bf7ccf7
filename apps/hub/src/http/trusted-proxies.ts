/**
 * Finds the client of a request behind proxies: the right-most address in the forwarding header
 * that is not a trusted proxy. Clients can forge everything to the left of it. The header counts
 * only when the peer is trusted. [RFC 7239 §5.2, §8.1]
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The header that the proxies write. The other one is ignored, because clients can send it. */
export type ForwardingHeader = 'x-forwarded-for' | 'forwarded';

interface Client {
  /** IPv4 without the prefix of dual-stack sockets. */
  readonly address: string | undefined;
  /** A trusted proxy reported that the client used HTTPS. */
  readonly isSecure: boolean;
}

/** One step of the request: the address of the sender, and its protocol. */
interface Hop {
  /** Undefined: `unknown`, hidden by the proxy, or not an address. */
  readonly address: string | undefined;
  readonly protocol: string | undefined;
}

type ForwardedRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * Characters read from the end of a header: about twenty steps, more than real chains of proxies.
 */
const HEADER_CHARACTERS_MAX = 2_000;
/**
 * Commas in an element of `Forwarded`. Real ones have none, and each costs a look at the element.
 */
const ELEMENT_COMMAS_MAX = 10;

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /** `networks` must pass proxyProblem. */
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
    for (const hop of this.#hopsIn(headers)) {
      // A proxy may hide the client; then the proxy counts as the client.
      client = { address: hop.address ?? client.address, protocol: hop.protocol };
      if (hop.address === undefined || !this.#trusts(hop.address)) break;
    }
    return { address: client.address, isSecure: client.protocol === 'https' || client.protocol === 'wss' };
  };

  /**
   * Skips an empty list, because each look-up costs the same and happens several times per request.
   */
  #trusts(address: string): boolean {
    return !this.#isEmpty && this.#networks.check(address, familyOf(address));
  }

  /** The steps of a request, the latest first. */
  #hopsIn(headers: IncomingMessage['headers']): Iterable<Hop> {
    const text = textOf(headers[this.header]);
    if (this.header === 'forwarded') return forwardedHops(text);
    const protocol = textOf(headers['x-forwarded-proto']).split(',').at(-1)?.trim().toLowerCase();
    return text === ''
      ? [{ address: undefined, protocol }]
      : text
          .split(',')
          .reverse()
          .map((node) => ({ address: addressOf(node.trim()), protocol }));
  }
}

/** The problem of an entry; undefined when it is valid. */
export function proxyProblem(network: string): string | undefined {
  const [address = '', bits = String(bitsOf(address))] = network.split('/', 2);
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > bitsOf(address))
    return `must list addresses and networks such as 10.0.0.7 or 10.0.0.0/8, not "${network}"`;
  return Number(bits) === 0 ? `must not contain ${network}: then any client could claim any address` : undefined;
}

/** Whether the network contains an address of this machine. */
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

/**
 * Takes the shortest readable element after a comma, from the right: a client can open a quote that
 * would include what the proxy appends. What stays unreadable is one unknown step, and the last.
 */
function* forwardedHops(text: string): Iterable<Hop> {
  let unread = '';
  let commas = 0;
  for (const part of text.split(',').reverse()) {
    const element = unread === '' ? part : `${part},${unread}`;
    const hop = hopOfElement(element);
    if (hop !== undefined) yield hop;
    unread = hop === undefined ? element.trim() : '';
    commas = unread === '' ? 0 : commas + 1;
    if (commas > ELEMENT_COMMAS_MAX) break;
  }
  if (unread !== '') yield { address: undefined, protocol: undefined };
}

/** Reads the pairs in order and all of them, so that a quoted value is not read as another pair. */
function hopOfElement(element: string): Hop | undefined {
  const text = element.trim();
  const pairs = [...text.matchAll(/\s*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))\s*(?:;|$)/gy)];
  if (pairs.length === 0 || pairs.map(([pair]) => pair).join('') !== text) return undefined;
  const parameters = new Map(pairs.map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted ?? token ?? '']));
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
