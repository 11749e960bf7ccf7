/**
 * A stable address in front of servers that come and go, as a TCP balancer is. Links through it can
 * be cut, made half-open, and slowed.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Chunk {
  readonly bytes: Buffer;
  readonly dueAt: number;
}

export class FrontDoor {
  readonly #server: Server;
  readonly #targets: () => readonly number[];
  readonly #sockets = new Set<Socket>();
  readonly #clients = new WeakSet<Socket>();
  readonly #frozen = new WeakSet<Socket>();
  #delayMs = 0;
  #turn = 0;

  /** `targets` are the ports of servers that work, on loopback. */
  static async open(targets: () => readonly number[]): Promise<FrontDoor> {
    const door = new FrontDoor(targets);
    await door.#listen(0);
    return door;
  }

  private constructor(targets: () => readonly number[]) {
    this.#targets = targets;
    this.#server = createServer((client) => this.#admit(client));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends all links. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** From now on nothing passes on the present links, and neither side learns of it. */
  freeze(): void {
    for (const socket of this.#sockets) {
      this.#frozen.add(socket);
      socket.pause();
    }
  }

  /** Ends what was frozen on the side of the clients only: they notice first, and connect again. */
  resetClients(): void {
    for (const socket of this.#sockets) if (this.#frozen.has(socket) && this.#clients.has(socket)) socket.destroy();
  }

  /** The latency of each direction, ms. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  #admit(client: Socket): void {
    this.#clients.add(client);
    client.on('error', () => undefined);
    const [port] = this.#inTurn();
    if (port === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => undefined);
    this.#forward(client, upstream);
    this.#forward(upstream, client);
  }

  /** The targets, each first in turn. */
  #inTurn(): readonly number[] {
    const targets = this.#targets();
    const first = this.#turn++ % Math.max(1, targets.length);
    return [...targets.slice(first), ...targets.slice(0, first)];
  }

  #forward(from: Socket, to: Socket): void {
    const waiting: Chunk[] = [];
    const pass = () => {
      for (;;) {
        const [next] = waiting;
        if (next === undefined || next.dueAt > performance.now()) break;
        waiting.shift();
        if (!this.#frozen.has(to)) to.write(next.bytes);
      }
      const [next] = waiting;
      if (next !== undefined) setTimeout(pass, Math.ceil(next.dueAt - performance.now()));
    };
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (bytes: Buffer) => {
      const dueAt = Math.max(performance.now() + this.#delayMs, waiting.at(-1)?.dueAt ?? 0);
      waiting.push({ bytes, dueAt });
      if (waiting.length === 1) pass();
    });
    from.on('close', () => {
      this.#sockets.delete(from);
      if (!this.#frozen.has(from)) to.destroy();
    });
  }
}
