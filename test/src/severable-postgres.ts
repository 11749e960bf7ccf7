/**
 * The road to a story's PostgreSQL, which can be cut and blocked: a TCP relay in front of the server of the test run. What is under way when it is cut
 * may have been carried out without anybody having heard of it, as in a real outage.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { openTestDatabase } from './test-database.js';

export interface SeverablePostgres {
  /** By way of the relay. */
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Connections stay open, new ones are taken, and nothing comes through any more: a server that hangs. */
  block(): void;
  /** As if nothing had been. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function openSeverablePostgres(): Promise<SeverablePostgres> {
  const database = await openTestDatabase();
  const url = new URL(database.url);
  const target = { host: url.hostname, port: Number(url.port) };
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
  url.port = String(port);

  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    block: () => {
      isBlocked = true;
      for (const socket of sockets) socket.pause();
    },
    restore: async () => {
      isBlocked = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
    close: async () => {
      await cut();
      await database.close();
    },
  };
}
