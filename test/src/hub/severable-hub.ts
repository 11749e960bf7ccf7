/**
 * The road to a hub's HTTP port, which can be cut and restored: what a client sees when a network,
 * a proxy or a hub goes away for a while.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { HubProcess } from './hub-process.js';

export interface SeverableHub {
  /** By way of the relay. */
  readonly httpUrl: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function openSeverableHub({ httpPort }: Pick<HubProcess, 'httpPort'>): Promise<SeverableHub> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(httpPort, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return { httpUrl: `http://127.0.0.1:${port}`, cut, restore: () => listen(port), close: cut };
}
