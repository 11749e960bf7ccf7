/** An MQTT device for specs. It writes raw packets, so that it can also break rules. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import mqtt from 'mqtt-packet';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import { vi } from 'vitest';

export const xiaozhiClientId = 'GID_lab@@@02_5e_7a_10_c4_9f@@@3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';

export class MqttDevice {
  readonly packets: Packet[] = [];
  isClosed = false;
  /** Called with each message that arrives; what it returns is published. */
  answer: ((text: string) => string | undefined) | undefined;

  constructor(readonly conn: Duplex) {
    const parser = mqtt.parser({ protocolVersion: 4 });
    parser.on('packet', (packet) => {
      this.packets.push(packet);
      const reply = packet.cmd === 'publish' ? this.answer?.(packet.payload.toString()) : undefined;
      if (reply !== undefined) this.publish(reply);
    });
    conn.on('data', (chunk: Buffer) => void parser.parse(chunk));
    conn.on('error', () => undefined);
    conn.on('close', () => {
      this.isClosed = true;
    });
  }

  /** Connects to a port; CONNECT is still to be sent. */
  static async dial(port: number): Promise<MqttDevice> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new MqttDevice(socket);
  }

  write(packet: Packet): void {
    this.conn.write(mqtt.generate(packet));
  }

  writeBytes(bytes: Uint8Array): void {
    this.conn.write(bytes);
  }

  connect(change: Partial<IConnectPacket> = {}): void {
    this.write({
      cmd: 'connect',
      clientId: xiaozhiClientId,
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      keepalive: 60,
      ...change,
    });
  }

  publish(text: string, topic = 'device-server'): void {
    this.write({ cmd: 'publish', topic, payload: text, qos: 0, dup: false, retain: false });
  }

  /** Texts of the messages that arrived, in order. */
  get messages(): readonly string[] {
    return this.packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.payload.toString()] : []));
  }

  /** Return code of CONNACK. */
  async connack(): Promise<number | undefined> {
    return (await this.packet('connack')).returnCode;
  }

  async packet<Command extends Packet['cmd']>(cmd: Command): Promise<Extract<Packet, { cmd: Command }>> {
    return vi.waitFor(() => {
      const found = this.packets.find((packet): packet is Extract<Packet, { cmd: Command }> => packet.cmd === cmd);
      if (found === undefined) throw new Error(`no ${cmd} yet`);
      return found;
    });
  }

  async closed(): Promise<void> {
    await vi.waitFor(() => {
      if (!this.isClosed) throw new Error('still open');
    });
  }
}
