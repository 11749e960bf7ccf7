/**
 * A microcontroller that speaks MCP/U on a TCP port: it stores the written output, and its
 * descriptions may be hostile.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

export interface BoardOptions {
  /**
   * What the board says wherever it says something: as its name, of its tools and its pin, and
   * beside each value.
   */
  readonly text?: string;
}

export class McpuBoard {
  /** What is at its output. */
  level = 0;
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly text: string | undefined,
  ) {}

  static async boot({ text }: BoardOptions = {}): Promise<McpuBoard> {
    const server = createServer();
    const board = new McpuBoard(server, text);
    server.on('connection', (socket) => board.#serve(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return board;
  }

  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().split('\n')) if (line !== '') socket.write(this.#answer(line));
    });
  }

  #answer(line: string): string {
    const { id, method, params } = JSON.parse(line) as {
      readonly id: number;
      readonly method: string;
      readonly params?: unknown;
    };
    return `${JSON.stringify({ jsonrpc: '2.0', id, result: this.#run(method, params) })}\n`;
  }

  #run(method: string, params: unknown): unknown {
    const { text } = this;
    const info = { device: text ?? 'greenhouse', version: text ?? '2.3.1' };
    const tools = ['gpio_write', 'gpio_read'].map((name) => ({
      name,
      description: text ?? 'What it does with an output',
    }));
    const pins = [{ pin: 16, name: text ?? 'lamp', type: 'digital_output', description: text ?? 'Lamp over the bed' }];
    if (method === 'get_info') return { ...info, memory_profile: 'rich' };
    if (method === 'list_tools') return { ...info, tools, pins };
    if (method === 'gpio_write') this.level = Number((params as { readonly value?: unknown }).value);
    return { pin: 16, value: this.level, note: text };
  }
}
