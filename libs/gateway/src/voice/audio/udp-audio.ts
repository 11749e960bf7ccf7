/**
 * The UDP port for audio of MQTT devices, one socket for all. The number in a packet's header
 * identifies the sender, which must have the address of the device's connection. Dropped packets
 * are counted by reason. [xiaozhi §2.5]
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

/** Why a datagram was dropped. `unknown_sender` includes late packets of a conversation. */
type UdpDrop =
  | UdpProblem
  | 'unknown_sender'
  | 'wrong_address'
  | 'replayed'
  | 'too_far'
  /** A packet of the hub that the system did not send. */
  | 'not_sent';

interface UdpChannelOptions {
  /** The address of the device's connection. Undefined: the address of the first packet is kept. */
  readonly address: string | undefined;
  readonly packetsAheadMax: number;
  readonly onPacket: (packet: AudioPacket) => void;
  /** The number of packets that are missing, or late, before the next received one. */
  readonly onMissed: (packets: number) => void;
}

interface Endpoint {
  readonly address: string;
  readonly port: number;
}

type SendDatagram = (datagram: Buffer, to: Endpoint) => void;

const KEY_BYTES = 16;
/**
 * The kernel buffer while the process is busy: a third of a second of a thousand speakers, with
 * overhead per packet.
 */
const BUFFER_BYTES = 2 * 1024 * 1024;
/** Linux doubles the requested size and reports the double. [socket(7), SO_RCVBUF] */
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
    // Errors of single datagrams (ICMP of a vanished peer) need no action; without a listener they
    // would end the process.
    socket.on('error', () => undefined);
    socket.on('message', (datagram, from) => {
      const drop = this.#receive(datagram, from);
      if (drop !== undefined) this.#drop(drop);
    });
  }

  /**
   * Port 0 selects a free one; `bufferBytes` is requested for each direction. Throws GatewayError
   * UDP_UNAVAILABLE.
   */
  static async open(options: {
    readonly host: string;
    readonly port: number;
    readonly bufferBytes?: number;
  }): Promise<UdpAudio> {
    const { bufferBytes = BUFFER_BYTES, host } = options;
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: bufferBytes,
      sendBufferSize: bufferBytes,
      lookup: lookUp,
    });
    try {
      // A socket for an IP address starts listening immediately.
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

  /**
   * The requested receive buffer and the smaller one that the system granted, bytes; undefined if
   * it granted the request.
   */
  get shortBuffer(): { readonly askedBytes: number; readonly grantedBytes: number } | undefined {
    const grantedBytes = this.socket.getRecvBufferSize() / TOLD_PER_ASKED;
    return grantedBytes < this.bufferBytes ? { askedBytes: this.bufferBytes, grantedBytes } : undefined;
  }

  /** Open channels. */
  get size(): number {
    return this.#channels.size;
  }

  /** Dropped datagrams by reason. */
  get drops(): ReadonlyMap<UdpDrop, number> {
    return this.#drops;
  }

  /** Opens a channel with a new key and sender number. */
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

  /** Packets of the device that were lost or late. */
  get lost(): number {
    return this.#window.skipped;
  }

  /** Encrypts and sends. Returns why the packet was dropped, or undefined. */
  sendAudio({ payload, timestamp }: AudioPacket): 'device_not_found' | 'too_long' | undefined {
    if (this.#peer === undefined) return 'device_not_found';
    if (payload.length + UDP_HEADER_BYTES > UDP_DATAGRAM_BYTES_MAX) return 'too_long';
    const datagram = Buffer.allocUnsafe(UDP_HEADER_BYTES + payload.length);
    writeUdpHeader(datagram, { length: payload.length, ssrc: this.ssrc, timestamp, sequence: ++this.#sequence });
    this.#cipher.apply(datagram, payload, datagram, UDP_HEADER_BYTES);
    this.send(datagram, this.#peer);
    return undefined;
  }

  /**
   * Returns why the datagram is dropped, or undefined. The same address with a new port and a newer
   * number is a device behind a NAT that lost its mapping.
   */
  receive(datagram: Buffer, { sequence, timestamp }: UdpHeader, from: Endpoint): UdpDrop | undefined {
    const address = this.#peerAddress ?? this.options.address;
    const sender = from.address === this.#peer?.address ? this.#peerAddress : plainAddress(from.address);
    // Node throws for port 0, so a packet that claims this port would end the process with the
    // answer.
    if (from.port === 0 || (address !== undefined && sender !== address)) return 'wrong_address';
    const skippedBefore = this.#window.skipped;
    const verdict = this.#window.take(sequence);
    if (verdict !== 'accepted') return verdict;
    if (this.#window.skipped > skippedBefore) this.options.onMissed(this.#window.skipped - skippedBefore);
    this.#peer = from;
    this.#peerAddress = sender;
    // Decrypts in place: the datagram has no other reader.
    const payload = datagram.subarray(UDP_HEADER_BYTES);
    this.#cipher.apply(datagram, payload, payload);
    this.options.onPacket({ payload, timestamp });
    return undefined;
  }
}

function counterModeOf(key: Buffer): CounterMode {
  const blocks = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return new CounterMode((counters) => blocks.update(counters));
}

/** Skips the lookup of an IP address, which would cost every packet a round trip. */
const lookUp: NonNullable<SocketOptions['lookup']> = (host, options, found) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, found);
  else found(null, host, family);
};

/** Removes the prefix of dual-stack sockets from IPv4 addresses. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
