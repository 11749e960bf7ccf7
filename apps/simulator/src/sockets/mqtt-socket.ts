/**
 * A device's MQTT connection: CONNECT 3.1.1, keep-alive, PUBLISH with QoS 0; microcontrollers also
 * SUBSCRIBE. [xiaozhi §2.2, mcpu §6.4]
 */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { generate } from 'mqtt-packet';
import type { MqttCredentials } from '../credentials.js';
import type { DeviceSocket, DeviceSocketEvents, Loss, SocketTarget } from './device-socket.js';
import { FrameError, FrameReader, PublishEncoder, type InboundPacket } from './mqtt-frames.js';

const PINGREQ = generate({ cmd: 'pingreq' });
const DISCONNECT = generate({ cmd: 'disconnect' });
/** The firmware's receive buffer; longer packets come in pieces. */
const RECEIVE_BYTES = 1024;
/** How long a device waits for CONNACK. */
const CONNECT_WAIT_MS = 10_000;
/**
 * Bytes that wait for a slow hub at most; more messages are lost, as on a device with a full
 * buffer.
 */
const SEND_BYTES_MAX = 256 * 1024;
/** How long a DISCONNECT may take to leave before the socket is cut. */
const FAREWELL_MS = 1000;
/** CONNACK codes for an identifier or credentials that are not accepted. */
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'unacceptable protocol version',
  2: 'client id not accepted',
  3: 'hub not available',
  4: 'bad user name or password',
  5: 'not authorised',
};

interface MqttLogin {
  readonly clientId: string;
  readonly credentials: MqttCredentials | undefined;
  readonly keepAliveSeconds: number;
  /** Topic of everything that the device says. */
  readonly publishTopic: string;
  /** Xiaozhi devices subscribe to nothing. */
  readonly subscribeTopic?: string;
  /** 4 is MQTT 3.1.1, 3 is MQTT 3.1 as cellular modems may speak it. */
  readonly protocolLevel: 3 | 4;
}

export class MqttSocket implements DeviceSocket {
  readonly #socket: Socket;
  readonly #frames = new FrameReader();
  readonly #publish: PublishEncoder;
  #isOpen = false;
  #isOver = false;
  #awaitsPong = false;
  #timer: NodeJS.Timeout;
  #failure: string | undefined;

  constructor(
    target: SocketTarget,
    private readonly login: MqttLogin,
    private readonly events: DeviceSocketEvents,
  ) {
    this.#publish = encoderFor(login.publishTopic);
    this.#socket = target.isTls ? this.#dialTls(target) : this.#dial(target);
    this.#socket.on('error', (error) => (this.#failure = error.message));
    this.#socket.on('close', () =>
      this.#end({ kind: this.#isOpen ? 'lost' : 'unreachable', detail: this.#failure ?? 'closed by the hub' }),
    );
    this.#timer = setTimeout(
      () => this.#end({ kind: 'unreachable', detail: 'no CONNACK within 10 s' }),
      CONNECT_WAIT_MS,
    );
  }

  send(text: string): void {
    if (this.#socket.writableLength <= SEND_BYTES_MAX) this.#socket.write(this.#publish.encode(text));
  }

  close(how: 'graceful' | 'abrupt' | 'silent'): void {
    this.#stop();
    if (how === 'silent') {
      this.#socket.pause();
      return;
    }
    if (how === 'abrupt' || !this.#isOpen) {
      this.#socket.destroy();
      return;
    }
    this.#socket.end(DISCONNECT);
    setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref();
  }

  #dial({ host, port, localAddress }: SocketTarget): Socket {
    return connect(
      {
        host,
        port,
        noDelay: true,
        ...(localAddress !== undefined && { localAddress }),
        onread: {
          buffer: Buffer.allocUnsafeSlow(RECEIVE_BYTES),
          callback: (bytes, buffer) => this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, bytes)),
        },
      },
      () => this.#greet(),
    );
  }

  #dialTls({ host, port, localAddress, ca }: SocketTarget): Socket {
    const plain = connect({ host, port, noDelay: true, ...(localAddress !== undefined && { localAddress }) });
    const socket = connectTls(
      { socket: plain, host, ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) },
      () => this.#greet(),
    );
    // A loss before the handshake is the plain socket's to report.
    plain.on('error', (error) => socket.destroy(error));
    return socket.on('data', (chunk: Buffer) => void this.#read(chunk));
  }

  #greet(): void {
    this.#socket.write(connectPacket(this.login));
  }

  #read(chunk: Buffer): boolean {
    try {
      this.#frames.push(chunk, (packet) => this.#take(packet));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#end({ kind: 'lost', detail: error.message });
    }
    return true;
  }

  #take(packet: InboundPacket): void {
    if (this.#isOver) return;
    this.#awaitsPong = false;
    if (packet.kind === 'publish') return this.events.onmessage(packet.text);
    if (packet.kind === 'connack') this.#greeted(packet.returnCode);
  }

  #greeted(returnCode: number): void {
    if (returnCode !== 0) {
      const why = REFUSALS[returnCode] ?? 'unknown reason';
      return this.#end({ kind: 'refused', detail: `CONNACK ${returnCode}: ${why}` });
    }
    clearTimeout(this.#timer);
    this.#isOpen = true;
    if (this.login.keepAliveSeconds > 0)
      this.#timer = setInterval(() => this.#ping(), this.login.keepAliveSeconds * 500);
    const topic = this.login.subscribeTopic;
    if (topic !== undefined)
      this.#socket.write(generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 0 }] }));
    this.events.onopen();
  }

  /** Pings at half the keep-alive and gives up at the whole of it. [xiaozhi §2.2] */
  #ping(): void {
    if (this.#awaitsPong)
      return this.#end({ kind: 'lost', detail: `no PINGRESP within ${this.login.keepAliveSeconds} s` });
    this.#awaitsPong = true;
    this.#socket.write(PINGREQ);
  }

  #stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #end(loss: Loss): void {
    if (this.#isOver) return;
    this.#stop();
    this.#socket.destroy();
    this.events.onloss(loss);
  }
}

/** One for the whole fleet where, as nearly always, all devices have the same topic. */
let lastEncoder: { readonly topic: string; readonly encoder: PublishEncoder } | undefined;

function encoderFor(topic: string): PublishEncoder {
  if (lastEncoder?.topic !== topic) lastEncoder = { topic, encoder: new PublishEncoder(topic) };
  return lastEncoder.encoder;
}

function connectPacket({ clientId, credentials, keepAliveSeconds, protocolLevel }: MqttLogin): Buffer {
  return generate({
    cmd: 'connect',
    protocolId: protocolLevel === 4 ? 'MQTT' : 'MQIsdp',
    protocolVersion: protocolLevel,
    clean: true,
    clientId,
    keepalive: keepAliveSeconds,
    ...(credentials && { username: credentials.username, password: Buffer.from(credentials.password) }),
  });
}
