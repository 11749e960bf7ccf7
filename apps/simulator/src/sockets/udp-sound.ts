/** The UDP channel of one conversation: key, sequence numbers and socket. [xiaozhi §2.5] */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { SoundChannel } from '@flotilla/simulated-device';
import { makeUdpHeader, readUdpHeader, SequenceWindow, UDP_HEADER_BYTES } from '@flotilla/voice';

const ALGORITHM = 'aes-128-ctr';
/** Milliseconds of sound in a packet. */
const PACKET_MS = 60;

export class UdpSound {
  readonly #socket = createSocket('udp4');
  readonly #key: Buffer;
  readonly #ssrc: number;
  /** A device accepts any newer sequence number. */
  readonly #window = new SequenceWindow(Infinity);
  #sequence = 0;

  /** `localAddress`: the source address of the device, which the hub compares. [xiaozhi §2.5] */
  constructor(
    private readonly channel: SoundChannel,
    localAddress: string | undefined,
    private readonly onpacket: (packet: Uint8Array) => void,
  ) {
    this.#key = Buffer.from(channel.key, 'hex');
    this.#ssrc = Buffer.from(channel.nonce, 'hex').readUInt32BE(4);
    // A hub that is gone answers with ICMP; a device does not notice.
    this.#socket.on('error', () => undefined);
    this.#socket.on('message', (datagram) => this.#hear(datagram));
    if (localAddress !== undefined) this.#socket.bind(0, localAddress);
    this.#socket.unref();
  }

  send(packet: Uint8Array): void {
    const sequence = ++this.#sequence;
    const header = makeUdpHeader({
      length: packet.length,
      ssrc: this.#ssrc,
      timestamp: sequence * PACKET_MS,
      sequence,
    });
    const cipher = createCipheriv(ALGORITHM, this.#key, header);
    const { port, server } = this.channel;
    this.#socket.send(Buffer.concat([header, cipher.update(packet), cipher.final()]), port, server, () => undefined);
  }

  close(): void {
    this.#socket.close();
  }

  #hear(datagram: Buffer): void {
    const read = readUdpHeader(datagram);
    if (!read.ok || this.#window.take(read.header.sequence) !== 'accepted') return;
    const decipher = createDecipheriv(ALGORITHM, this.#key, datagram.subarray(0, UDP_HEADER_BYTES));
    this.onpacket(Buffer.concat([decipher.update(datagram.subarray(UDP_HEADER_BYTES)), decipher.final()]));
  }
}
