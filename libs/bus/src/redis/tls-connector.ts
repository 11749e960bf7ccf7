/**
 * Connects to Redis over TLS. The connector of ioredis handles one error per connection; a failed
 * handshake causes two, and the second would end the process.
 */
import { connect } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import type { RedisOptions } from 'ioredis';

/** A connection that does not close after its last bytes is cut, ms. As in ioredis. */
const DISCONNECT_TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 6379;

/** `ca`: CA certificates (PEM) instead of the system's. */
export function tlsConnectorTo(redisUrl: string, ca: string | undefined): NonNullable<RedisOptions['Connector']> {
  const { hostname, port } = new URL(redisUrl);
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || DEFAULT_PORT, ca };
  return class TlsConnector extends AbstractConnector {
    constructor() {
      super(DISCONNECT_TIMEOUT_MS);
    }

    override connect(): ReturnType<AbstractConnector['connect']> {
      this.connecting = true;
      const stream = connect(place);
      stream.on('error', (error) => (this.firstError ??= error));
      this.stream = stream;
      return Promise.resolve(stream);
    }
  };
}
