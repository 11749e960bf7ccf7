/** A UDP port: what comes in is handed over, what goes out is sent without waiting. */
import { createSocket } from 'node:dgram';
import type { Socket, SocketOptions } from 'node:dgram';
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Where a datagram comes from or goes to. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export type HearDatagram = (datagram: Buffer, from: Endpoint) => void;

export interface DatagramPortOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Asked of the system for what waits in each direction. */
  readonly bufferBytes: number;
}

export interface DatagramPort {
  readonly port: number;
  /** Bytes that the system keeps of what was not read yet. */
  readonly receiveBufferBytes: number;
  /** Datagrams that were to be sent and could not be. */
  readonly notSent: number;
  /** The datagram is the hearer's alone. */
  ondatagram: HearDatagram;
  /** The bytes may be used again at once. */
  send(datagram: Uint8Array, to: Endpoint): void;
  close(): Promise<void>;
}

/** Linux doubles what it was asked for, for its own needs, and tells the double. [socket(7), SO_RCVBUF] */
const TOLD_PER_ASKED = process.platform === 'linux' ? 2 : 1;

/** The port in the thread that opened it, which reads at most 32 datagrams between everything else that this thread does. */
export class SocketPort implements DatagramPort {
  ondatagram: HearDatagram = () => undefined;
  readonly #sent = (error: Error | null): void => {
    if (error !== null) Atomics.add(this.failures, 0, 1);
  };

  private constructor(
    private readonly socket: Socket,
    private readonly failures: Int32Array,
  ) {
    // Errors of single datagrams (ICMP of a vanished peer) are nothing to act on; unheard they would end the process.
    socket.on('error', () => undefined);
    socket.on('message', (datagram, from) => this.ondatagram(datagram, from));
  }

  /** Counts in `failures` what could not be sent. Rejects with the system's error. */
  static async open({ bufferBytes, host, port }: DatagramPortOptions, failures: Int32Array = new Int32Array(1)): Promise<SocketPort> {
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      ...{ recvBufferSize: bufferBytes, sendBufferSize: bufferBytes, lookup: lookUp },
    });
    // Of an address it listens at once.
    const listening = once(socket, 'listening');
    socket.bind(port, host);
    await listening;
    return new SocketPort(socket, failures);
  }

  get port(): number {
    return this.socket.address().port;
  }

  get receiveBufferBytes(): number {
    return this.socket.getRecvBufferSize() / TOLD_PER_ASKED;
  }

  get notSent(): number {
    return Atomics.load(this.failures, 0);
  }

  send(datagram: Uint8Array, { address, port }: Endpoint): void {
    this.socket.send(datagram, port, address, this.#sent);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.socket.close(() => resolve()));
  }
}

/** Of an address that is one already nothing is looked up: it would cost every packet a round through the resolver. */
const lookUp: NonNullable<SocketOptions['lookup']> = (host, options, found) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, found);
  else found(null, host, family);
};
