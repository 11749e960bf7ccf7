/**
 * Opens the socket of a connection of ioredis to the server that a finder names, again for each
 * attempt. With TLS it handles all errors of a socket: a failed handshake causes two, the
 * connectors of ioredis handle one, and the second would end the process.
 */
import { connect as connectTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import type { RedisOptions } from 'ioredis';
import type { RedisHost } from './redis-url.js';

/** A connection that does not close after its last bytes is cut, ms. As in ioredis. */
const DISCONNECT_TIMEOUT_MS = 2_000;

/** TLS with these CA certificates (PEM) or the system's; undefined: no TLS. */
export type RedisTls = { readonly ca?: string | undefined } | undefined;

interface Target {
  /** The server to connect to now. */
  readonly find: () => Promise<RedisHost>;
  readonly tls: RedisTls;
  /** Whether to refuse a server that is no longer master, which a stale answer named. */
  readonly mustBeMaster: boolean;
}

export function connectorTo({ find, tls, mustBeMaster }: Target): NonNullable<RedisOptions['Connector']> {
  return class RedisConnector extends AbstractConnector {
    constructor() {
      super(DISCONNECT_TIMEOUT_MS);
    }

    override async connect(): ReturnType<AbstractConnector['connect']> {
      this.connecting = true;
      const stream = await find().then(
        (place) => (this.connecting ? openSocket(place, tls) : closedSocket()),
        (error: unknown) => {
          this.firstError = error instanceof Error ? error : new Error(String(error));
          return closedSocket();
        },
      );
      stream.on('error', (error) => (this.firstError ??= error));
      this.stream = stream;
      return stream;
    }

    override check(info: { readonly role?: string }): boolean {
      return !mustBeMaster || info.role === undefined || info.role === 'master';
    }
  };
}

function openSocket({ host, port }: RedisHost, tls: RedisTls): Socket {
  return tls === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ca: tls.ca });
}

/** ioredis retries after a closed socket, and never after an error of a connector. */
function closedSocket(): Socket {
  return new Socket().destroy();
}
