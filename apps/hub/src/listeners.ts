/** The process's listeners: one HTTP server and one TCP port for MQTT. Failing to bind is said with the setting that decides it. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A port that could not be opened, with the setting to change. */
export class ListenError extends Error {
  readonly code = 'LISTEN_FAILED';

  constructor(setting: string, host: string, port: number, cause: unknown) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const advice = reason === 'EADDRINUSE' ? 'another program has it' : reason;
    super(`Port ${port} on ${host} cannot be opened (${advice}). Set ${setting} to a free port, or to 0 for any.`, { cause });
    this.name = 'ListenError';
  }
}

/** Opens `open()` and turns its failure into a ListenError. */
export async function listening<Result>(setting: string, host: string, port: number, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    throw new ListenError(setting, host, port, error);
  }
}

/** Listens for TCP connections of MQTT devices. */
export function listenMqtt(host: string, port: number, accept: (socket: Socket) => void): Promise<Server> {
  // A storm of reconnecting devices waits in the kernel's backlog instead of being refused.
  const server = createServer({ noDelay: true }, accept);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 4096 }, () => {
      server.removeListener('error', reject);
      resolve(server);
    });
  });
}

export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Stops listening. Connections that are open stay open. */
export function stopListening(server: Server): void {
  server.close();
}
