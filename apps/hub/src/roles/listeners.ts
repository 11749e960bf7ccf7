/** The process's listeners: one HTTP server and one TCP port for MQTT. Failing to bind is said with the setting that decides it. */
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
      return `another program has it. Set ${setting} to a free port, or to 0 for any.`;
    case 'EACCES':
      return `this user may not open ports below 1024. Set ${setting} to a higher one.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine does not have that address (${reason}). Set FLOTILLA_HOST to one of its own, or to 0.0.0.0 for all.`;
    default:
      return `${reason}. Set ${setting} or FLOTILLA_HOST.`;
  }
}

/** The operating system's code, which a lib's own error carries as its cause. */
function systemCode(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return systemCode(error.cause);
  return 'code' in error ? String(error.code) : error.message;
}

/** Opens `open()` and turns its failure into a ListenError. */
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

/** A storm of reconnecting devices waits in the kernel's backlog instead of being refused. */
const BACKLOG = 4096;

/** A TLS handshake that is not done by then is cut, ms: devices give up after 10 s themselves. */
const TLS_HANDSHAKE_MS = 10_000;

/** Listens for TCP connections of MQTT devices. */
export function listenMqtt(host: string, port: number, accept: (socket: Socket) => void): Promise<Server> {
  return listen(createServer({ noDelay: true }, accept), host, port);
}

export interface TlsPlace {
  readonly host: string;
  readonly port: number;
  readonly tls: SecureContextOptions;
}

/** Likewise over TLS; sockets are handed over once their handshake is done. */
export function listenMqttOverTls({ host, port, tls }: TlsPlace, accept: (socket: Socket) => void): Promise<TlsServer> {
  const server = createTlsServer({ ...tls, handshakeTimeout: TLS_HANDSHAKE_MS, noDelay: true }, accept);
  // Whoever breaks off its handshake, or speaks plain MQTT here, is gone already.
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
