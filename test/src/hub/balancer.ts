/**
 * A TCP balancer for stories, as operators have in front of gateways and APIs: each connection goes
 * to the next backend whose `/health/ready` answers 200.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Time between two probes of a backend, ms. */
const PROBE_EVERY_MS = 200;

export interface Balancer {
  readonly port: number;
  /** Ready from the start. */
  add(httpUrl: string, port: number): void;
  remove(httpUrl: string): void;
  close(): Promise<void>;
}

interface Backend {
  readonly port: number;
  isReady: boolean;
}

export async function openBalancer(): Promise<Balancer> {
  const backends = new Map<string, Backend>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const next = (): number | undefined => {
    const ready = [...backends.values()].filter(({ isReady }) => isReady);
    turn += 1;
    return ready[turn % ready.length]?.port;
  };
  const server = createServer((client) => {
    const port = next();
    if (port === undefined) return void client.destroy();
    join(client, connect(port, '127.0.0.1'), sockets);
  });
  const probes = setInterval(() => {
    for (const [httpUrl, backend] of backends)
      void fetch(`${httpUrl}/health/ready`).then(
        ({ status }) => (backend.isReady = status === 200),
        () => (backend.isReady = false),
      );
  }, PROBE_EVERY_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    add: (httpUrl, port) => void backends.set(httpUrl, { port, isReady: true }),
    remove: (httpUrl) => void backends.delete(httpUrl),
    close: async () => {
      clearInterval(probes);
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function join(client: Socket, upstream: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroySoon();
    });
    socket.pipe(other);
  }
}
