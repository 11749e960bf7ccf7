/**
 * A peer at a WebSocket door that upgrades, or only connects, and then neither says anything nor
 * answers anything, not even the end of the connection.
 */
import { connect, type Socket } from 'node:net';

export interface RawStranger {
  /** The first line of the answer; undefined before there is an answer. */
  readonly status: string | undefined;
  /** Whether the hub has ended the connection. */
  readonly isEnded: boolean;
  /**
   * Whether it is still open for the hub: a connection that the hub closed only half takes what is
   * sent.
   */
  probe(): boolean;
  drop(): void;
}

export interface StrangerOptions {
  /** Undefined: nothing is sent at all. */
  readonly path?: string;
  /** Beside those of a WebSocket handshake. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Resolves when it is connected. */
export function dialStranger(port: number, { path, headers = {} }: StrangerOptions): Promise<RawStranger> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const state: { status: string | undefined; isEnded: boolean } = { status: undefined, isEnded: false };
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject).on('error', () => (state.isEnded = true));
      if (path !== undefined) socket.write(handshakeOf(path, headers));
      resolve(strangerOf(socket, state));
    });
    socket.on('data', (data: Buffer) => (state.status ??= data.toString('latin1').split('\r\n')[0] ?? ''));
    socket.on('end', () => (state.isEnded = true));
    socket.on('close', () => (state.isEnded = true));
  });
}

function handshakeOf(path: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    Host: 'hub.test',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function strangerOf(
  socket: Socket,
  state: { readonly status: string | undefined; readonly isEnded: boolean },
): RawStranger {
  return {
    get status() {
      return state.status;
    },
    get isEnded() {
      return state.isEnded;
    },
    probe: () => {
      if (!socket.destroyed) socket.write('x');
      return !socket.destroyed;
    },
    drop: () => socket.destroy(),
  };
}
