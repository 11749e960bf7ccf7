/** A voice server inside the process of a story or bench, which says every packet back at once. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

const hello = JSON.stringify({
  type: 'hello',
  transport: 'websocket',
  session_id: 'echo',
  audio_params: { format: 'opus', sample_rate: 24_000, channels: 1, frame_duration: 60 },
});

export interface EchoServer {
  readonly url: string;
  /** Open connections that received its hello. A hub does not use what a server says before. */
  readonly sockets: ReadonlySet<WebSocket>;
  /** Gets each packet, and says what goes back: by default the same. */
  echo: (packet: Buffer) => Buffer;
  close(): Promise<void>;
}

export async function openEchoServer(): Promise<EchoServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const greeted = new Set<WebSocket>();
  const echo: EchoServer = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sockets: greeted,
    echo: (packet) => packet,
    close: async () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, 'close');
    },
  };
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => greeted.delete(socket));
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) return socket.send(echo.echo(data));
      if ((JSON.parse(data.toString()) as { readonly type: string }).type !== 'hello') return;
      socket.send(hello);
      greeted.add(socket);
    });
  });
  return echo;
}
