/** The UDP port that MQTT devices are told to send their audio to. Without a voice service it is really there, and what arrives is counted and dropped. */
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { GatewayError } from '../gateway-error.js';

export class UdpSink {
  #packets = 0;

  private constructor(private readonly socket: Socket) {
    // Errors of single datagrams (ICMP of a vanished peer) are nothing to act on; unheard they would end the process.
    socket.on('error', () => undefined);
    socket.on('message', () => {
      this.#packets += 1;
    });
  }

  /** Port 0 picks a free one. Throws GatewayError UDP_UNAVAILABLE. */
  static async open(options: { readonly host: string; readonly port: number }): Promise<UdpSink> {
    const socket = createSocket(options.host.includes(':') ? 'udp6' : 'udp4');
    try {
      socket.bind(options.port, options.host);
      await once(socket, 'listening');
    } catch (cause) {
      throw new GatewayError('UDP_UNAVAILABLE', `cannot bind UDP ${options.host}:${options.port}`, { cause });
    }
    return new UdpSink(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** Datagrams dropped so far. */
  get packets(): number {
    return this.#packets;
  }

  async close(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }
}
