/**
 * A TCP relay in front of a server, which can be cut and blocked: what is under way when it is cut
 * may have been done without anybody having heard of it.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SeverableRelay {
  /** On loopback. */
  readonly port: number;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /**
   * Connections stay open, new ones are taken, and nothing comes through any more: a server that
   * hangs.
   */
  block(): void;
  /** As if nothing had been. */
  restore(): Promise<void>;
}

export async function openRelay(target: { readonly host: string; readonly port: number }): Promise<SeverableRelay> {
  const sockets = new Set<Socket>();
  let isBlocked = false;

  const server = createServer((client) => {
    const upstream = connect(target);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (chunk) => other.write(chunk));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (isBlocked) socket.pause();
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;

  return {
    port,
    cut: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    block: () => {
      isBlocked = true;
      for (const socket of sockets) socket.pause();
    },
    restore: async () => {
      isBlocked = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
  };
}
