/**
 * The UDP port to which MQTT devices send their audio. One socket for all; who sends is told by the number in the packet's header, and believed only where
 * it comes from the address of the device's own connection. What is not taken is counted by reason and dropped. [xiaozhi §2.5]
 */
import { createCipheriv, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { RemoteInfo, Socket, SocketOptions } from 'node:dgram';
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { isIP } from 'node:net';
import {
  CounterMode,
  nonceOf,
  readUdpHeader,
  SequenceWindow,
  UDP_DATAGRAM_BYTES_MAX,
  UDP_HEADER_BYTES,
  writeUdpHeader,
} from '@flotilla/voice';
import type { AudioPacket, UdpHeader, UdpProblem } from '@flotilla/voice';
import { GatewayError } from '../../gateway-error.js';

/** Why a datagram was dropped. `unknown_sender` is also what is late for a conversation that has ended. */
export type UdpDrop =
  | UdpProblem
  | 'unknown_sender'
  | 'wrong_address'
  | 'replayed'
  | 'too_far'
  /** One of the hub's own, which the system would not send. */
  | 'not_sent';

export interface UdpChannelOptions {
  /** Where the device's connection comes from. Undefined: the address of the first packet is kept. */
  readonly address: string | undefined;
  readonly packetsAheadMax: number;
  readonly heard: (packet: AudioPacket) => void;
  /** So many packets before the one that is heard next never came, or come too late. */
  readonly missed: (packets: number) => void;
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

type SendDatagram = (datagram: Buffer, to: Endpoint) => void;

const KEY_BYTES = 16;
/** What the kernel keeps while the process is busy: a third of a second of a thousand speakers, with what it adds to each packet. */
const BUFFER_BYTES = 2 * 1024 * 1024;
/** Linux doubles what it was asked for, for its own needs, and tells the double. [socket(7), SO_RCVBUF] */
const TOLD_PER_ASKED = process.platform === 'linux' ? 2 : 1;

export class UdpAudio {
  readonly #channels = new Map<number, UdpChannel>();
  readonly #drops = new Map<UdpDrop, number>();
  readonly #send: SendDatagram;

  private constructor(
    private readonly socket: Socket,
    private readonly bufferBytes: number,
  ) {
    const sent = (error: Error | null) => {
      if (error !== null) this.#drop('not_sent');
    };
    this.#send = (datagram, to) => socket.send(datagram, to.port, to.address, sent);
    // Errors of single datagrams (ICMP of a vanished peer) are nothing to act on; unheard they would end the process.
    socket.on('error', () => undefined);
    socket.on('message', (datagram, from) => {
      const drop = this.#receive(datagram, from);
      if (drop !== undefined) this.#drop(drop);
    });
  }

  /** Port 0 picks a free one; `bufferBytes` is asked of the system for each direction. Throws GatewayError UDP_UNAVAILABLE. */
  static async open(options: {
    readonly host: string;
    readonly port: number;
    readonly bufferBytes?: number;
  }): Promise<UdpAudio> {
    const { bufferBytes = BUFFER_BYTES, host } = options;
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      ...{ recvBufferSize: bufferBytes, sendBufferSize: bufferBytes, lookup: lookUp },
    });
    try {
      // Of an address it listens at once.
      const listening = once(socket, 'listening');
      socket.bind(options.port, host);
      await listening;
    } catch (cause) {
      throw new GatewayError('UDP_UNAVAILABLE', `cannot bind UDP ${host}:${options.port}`, { cause });
    }
    return new UdpAudio(socket, bufferBytes);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** The receive buffer that the hub asked for and the smaller one that the system granted, bytes; undefined where it got what it asked for. */
  get shortBuffer(): { readonly askedBytes: number; readonly grantedBytes: number } | undefined {
    const grantedBytes = this.socket.getRecvBufferSize() / TOLD_PER_ASKED;
    return grantedBytes < this.bufferBytes ? { askedBytes: this.bufferBytes, grantedBytes } : undefined;
  }

  /** Channels that are open. */
  get size(): number {
    return this.#channels.size;
  }

  /** Datagrams dropped so far, by reason. */
  get drops(): ReadonlyMap<UdpDrop, number> {
    return this.#drops;
  }

  /** A channel with a key and a sender's number of its own. */
  openChannel(options: UdpChannelOptions): UdpChannel {
    let ssrc = randomBytes(4).readUInt32BE();
    while (this.#channels.has(ssrc)) ssrc = randomBytes(4).readUInt32BE();
    const channel = new UdpChannel(ssrc, options, this.#send);
    this.#channels.set(ssrc, channel);
    return channel;
  }

  closeChannel(channel: UdpChannel): void {
    this.#channels.delete(channel.ssrc);
  }

  async close(): Promise<void> {
    this.#channels.clear();
    this.socket.close();
    await once(this.socket, 'close');
  }

  #receive(datagram: Buffer, from: RemoteInfo): UdpDrop | undefined {
    const read = readUdpHeader(datagram);
    if (!read.ok) return read.problem;
    const channel = this.#channels.get(read.header.ssrc);
    return channel === undefined ? 'unknown_sender' : channel.receive(datagram, read.header, from);
  }

  #drop(reason: UdpDrop): void {
    this.#drops.set(reason, (this.#drops.get(reason) ?? 0) + 1);
  }
}

/** The audio of one conversation in both directions. */
export class UdpChannel {
  readonly key = randomBytes(KEY_BYTES);
  readonly #cipher = counterModeOf(this.key);
  readonly #window: SequenceWindow;
  #sequence = 0;
  /** As the socket names it. */
  #peer: Endpoint | undefined;
  #peerAddress: string | undefined;

  constructor(
    readonly ssrc: number,
    private readonly options: UdpChannelOptions,
    private readonly send: SendDatagram,
  ) {
    this.#window = new SequenceWindow(options.packetsAheadMax);
  }

  /** 32 hex digits. */
  get nonce(): string {
    return nonceOf(this.ssrc);
  }

  /** Packets of the device that never came, or too late. */
  get lost(): number {
    return this.#window.skipped;
  }

  /** Enciphers and sends. Why the packet was dropped, or undefined. */
  sendAudio({ payload, timestamp }: AudioPacket): 'device_not_found' | 'too_long' | undefined {
    if (this.#peer === undefined) return 'device_not_found';
    if (payload.length + UDP_HEADER_BYTES > UDP_DATAGRAM_BYTES_MAX) return 'too_long';
    const datagram = Buffer.allocUnsafe(UDP_HEADER_BYTES + payload.length);
    writeUdpHeader(datagram, { length: payload.length, ssrc: this.ssrc, timestamp, sequence: ++this.#sequence });
    this.#cipher.apply(datagram, payload, datagram, UDP_HEADER_BYTES);
    this.send(datagram, this.#peer);
    return undefined;
  }

  /** Why the datagram is dropped, or undefined. The same address at a new port with a newer number is a device behind a NAT that forgot it. */
  receive(datagram: Buffer, { sequence, timestamp }: UdpHeader, from: Endpoint): UdpDrop | undefined {
    const address = this.#peerAddress ?? this.options.address;
    const sender = from.address === this.#peer?.address ? this.#peerAddress : plainAddress(from.address);
    // Nothing can be sent to port 0, which Node throws at: whoever claims to be there would end the process with the answer.
    if (from.port === 0 || (address !== undefined && sender !== address)) return 'wrong_address';
    const skippedBefore = this.#window.skipped;
    const verdict = this.#window.take(sequence);
    if (verdict !== 'accepted') return verdict;
    if (this.#window.skipped > skippedBefore) this.options.missed(this.#window.skipped - skippedBefore);
    this.#peer = from;
    this.#peerAddress = sender;
    // In its own place: nobody else has the datagram.
    const payload = datagram.subarray(UDP_HEADER_BYTES);
    this.#cipher.apply(datagram, payload, payload);
    this.options.heard({ payload, timestamp });
    return undefined;
  }
}

function counterModeOf(key: Buffer): CounterMode {
  const blocks = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return new CounterMode((counters) => blocks.update(counters));
}

/** Of an address that is one already nothing is looked up: it would cost every packet a round through the resolver. */
const lookUp: NonNullable<SocketOptions['lookup']> = (host, options, found) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, found);
  else found(null, host, family);
};

/** IPv4 addresses without the prefix that dual-stack sockets put before them. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
