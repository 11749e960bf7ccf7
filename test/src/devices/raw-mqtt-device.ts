/**
 * A device's end of MQTT made of raw packets, so that it can do what no client library would. It
 * answers as firmware unless the test says otherwise.
 */
import { once } from 'node:events';
import { connect as dialTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as dialTls } from 'node:tls';
import mqtt from 'mqtt-packet';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import { createWebSocketStream, WebSocket } from 'ws';
import { clientIdOf, mqttLogin } from './device-credentials.js';
import { eventually } from '../eventually.js';
import { answerAsFirmware } from './firmware.js';
import type { HubProcess } from '../hub/hub-process.js';

interface ConnectOptions {
  /** Distinguishes two client ids of one MAC. */
  readonly group?: string;
  readonly over?: Way;
  readonly answer?: RawMqttDevice['answer'];
}

/** `tls` takes any certificate: stories sign their own. */
type Way = 'tcp' | 'tls' | 'websocket';

type Hub = Pick<HubProcess, 'mqttPort' | 'mqttsPort' | 'httpPort' | 'deviceSecret'>;

export class RawMqttDevice {
  readonly packets: Packet[] = [];
  isClosed = false;
  /** Called with each message that arrives; what it returns is published. */
  answer: (text: string) => string | undefined = (text) => answerAsFirmware(text);

  private constructor(readonly stream: Duplex) {
    const parser = mqtt.parser({ protocolVersion: 4 });
    parser.on('packet', (packet) => {
      this.packets.push(packet);
      const reply = packet.cmd === 'publish' ? this.answer(packet.payload.toString()) : undefined;
      if (reply !== undefined) this.say(reply);
    });
    stream.on('data', (chunk: Buffer) => void parser.parse(chunk));
    stream.on('error', () => undefined);
    // The stream of a WebSocket only ends.
    for (const event of ['end', 'close'])
      stream.on(event, () => {
        this.isClosed = true;
      });
  }

  /** An open connection on which nothing was said yet. */
  static async dial(hub: Hub, over: Way = 'tcp'): Promise<RawMqttDevice> {
    if (over === 'websocket') {
      const socket = new WebSocket(`ws://127.0.0.1:${hub.httpPort}/mqtt`, 'mqtt');
      await once(socket, 'open');
      return new RawMqttDevice(createWebSocketStream(socket));
    }
    if (over === 'tls') {
      const socket = dialTls({ host: '127.0.0.1', port: hub.mqttsPort, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      return new RawMqttDevice(socket);
    }
    const socket = dialTcp(hub.mqttPort, '127.0.0.1');
    await once(socket, 'connect');
    return new RawMqttDevice(socket);
  }

  /** Returns an accepted connection of the device with this MAC. */
  static async connect(hub: Hub, mac: string, options: ConnectOptions = {}) {
    const device = await RawMqttDevice.dial(hub, options.over);
    if (options.answer) device.answer = options.answer;
    const clientId = clientIdOf(mac, options.group);
    device.hello({ clientId, ...mqttLogin(hub.deviceSecret, clientId) });
    const code = await device.connack();
    if (code !== 0) throw new Error(`The hub refused ${clientId} with code ${String(code)}.`);
    return device;
  }

  /** Sends CONNECT. */
  hello(change: Partial<IConnectPacket> & { readonly clientId: string }): void {
    this.write({ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 60, ...change });
  }

  write(packet: Packet): void {
    this.stream.write(mqtt.generate(packet));
  }

  /** Publishes a message as devices do. */
  say(text: string, topic = 'device-server'): void {
    this.write({ cmd: 'publish', topic, payload: text, qos: 0, dup: false, retain: false });
  }

  /** Closes the connection without DISCONNECT. */
  drop(): void {
    this.stream.destroy();
  }

  /** Texts of the messages that arrived, in order. */
  get messages(): readonly string[] {
    return this.packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.payload.toString()] : []));
  }

  /** Return code of CONNACK; undefined when the connection ended without one. */
  async connack(): Promise<number | undefined> {
    const isDecided = () => this.isClosed || this.packets.some(({ cmd }) => cmd === 'connack');
    await eventually(isDecided, (is) => is, 15_000);
    const found = this.packets.find((packet) => packet.cmd === 'connack');
    return found?.cmd === 'connack' ? found.returnCode : undefined;
  }

  async closed(withinMs = 5_000): Promise<void> {
    await eventually(
      () => this.isClosed,
      (is) => is,
      withinMs,
    );
  }
}
