/**
 * Listeners of MQTT, with and without TLS. A port that cannot be opened is reported with its
 * setting.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContextOptions, type Server as TlsServer } from 'node:tls';

/** A port that could not be opened, with the setting to change. */
export class ListenError extends Error {
  readonly code = 'LISTEN_FAILED';

  constructor(setting: string, host: string, port: number, cause: unknown) {
    super(`Port ${port} on ${host} cannot be opened: ${adviceFor(systemCode(cause), setting)}`, { cause });
    this.name = 'ListenError';
  }
}

function adviceFor(reason: string, setting: string): string {
  switch (reason) {
    case 'EADDRINUSE':
      // Devices use TLS on one port only, so the setting accepts no other.
      return setting === 'FLOTILLA_MQTTS_PORT'
        ? `another program uses it. Stop that program, or behind a TCP proxy set ${setting} to 0.`
        : `another program uses it. Set ${setting} to a free port, or to 0 for any.`;
    case 'EACCES':
      return `this user may not open ports below 1024. Set ${setting} to a higher one.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `it is not an address of this machine (${reason}). Set FLOTILLA_HOST to one, or to 0.0.0.0 for all.`;
    default:
      return `${reason}. Set ${setting} or FLOTILLA_HOST.`;
  }
}

/** The error code of the operating system; an error of a library has it in its cause. */
function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return systemCode(error.cause);
  return 'code' in error ? String(error.code) : error.message;
}

/** Runs `open` and turns its failure into a ListenError. */
export async function listening<Result>(
  setting: string,
  host: string,
  port: number,
  open: () => Promise<Result>,
): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    throw new ListenError(setting, host, port, error);
  }
}

/** Connections that wait in the kernel while many devices reconnect at once. */
const BACKLOG = 4096;

/** Time for a TLS handshake, ms. Devices give up after 10 s. */
const TLS_HANDSHAKE_MS = 10_000;

/** Listens for TCP connections of MQTT devices. */
export function listenMqtt(host: string, port: number, accept: (socket: Socket) => void): Promise<Server> {
  return listen(createServer({ noDelay: true }, accept), host, port);
}

interface TlsPlace {
  readonly host: string;
  readonly port: number;
  readonly tls: SecureContextOptions;
}

/** Listens with TLS. `accept` receives sockets after their handshake. */
export function listenMqttOverTls({ host, port, tls }: TlsPlace, accept: (socket: Socket) => void): Promise<TlsServer> {
  const server = createTlsServer({ ...tls, handshakeTimeout: TLS_HANDSHAKE_MS, noDelay: true }, accept);
  // A peer that stops its handshake, or uses plain MQTT here, is lost.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return listen(server, host, port);
}

function listen<Listener extends Server>(server: Listener, host: string, port: number): Promise<Listener> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
