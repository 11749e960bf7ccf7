/**
 * A microcontroller on a TCP port, as simple as its firmware: one client at a time, one line per
 * answer, and any fault that a spec requests.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface BoardOptions {
  /** Handles a connection instead of serving it. */
  readonly behave?: (socket: Socket) => void;
}

const listing = {
  device: 'greenhouse',
  version: '2.3.1',
  tools: [
    { name: 'gpio_write', description: 'Set an output' },
    { name: 'water_bed', description: 'Open the valve', inputSchema: { type: 'object', required: [], properties: {} } },
  ],
  pins: [{ pin: 16, name: 'valve', type: 'digital_output', description: 'Bed valve' }],
};

export class Board {
  readonly requests: string[] = [];
  connections = 0;
  #socket: Socket | undefined;

  private constructor(private readonly server: Server) {}

  static async boot({ behave }: BoardOptions = {}): Promise<Board> {
    const server = createServer();
    const board = new Board(server);
    server.on('connection', (socket) => {
      board.connections += 1;
      board.#socket = socket;
      socket.on('error', () => undefined);
      if (behave === undefined) board.#serve(socket);
      else behave(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return board;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Cuts the connection like a reset. */
  drop(): void {
    this.#socket?.resetAndDestroy();
  }

  stop(): void {
    this.drop();
    this.server.close();
  }

  /** Reads like firmware: the available bytes are one line. */
  #serve(socket: Socket): void {
    socket.write('ets Jun  8 2016 00:22:57\r\nwifi ok');
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk
        .toString()
        .split('\n')
        .filter((text) => text !== ''))
        this.#answer(socket, line);
    });
  }

  #answer(socket: Socket, line: string): void {
    this.requests.push(line);
    const { id, method } = JSON.parse(line) as { readonly id: number; readonly method: string };
    const result =
      method === 'get_info'
        ? { ...listing, memory_profile: 'rich' }
        : method === 'list_tools'
          ? listing
          : { done: method };
    const text = `${JSON.stringify({ result, jsonrpc: '2.0', id })}\r\n`;
    // Answers may arrive in any parts.
    socket.write(text.slice(0, 7));
    setImmediate(() => socket.write(text.slice(7)));
  }
}
