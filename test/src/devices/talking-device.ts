/**
 * Devices that do nothing but talk: a frame every 60 ms over WebSocket or over MQTT and UDP. They
 * answer calls as firmware does.
 */
import { createCipheriv } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { CounterMode, UDP_HEADER_BYTES, writeUdpHeader } from '@flotilla/voice';
import { eventually } from '../eventually.js';
import { answerAsFirmware } from './firmware.js';
import type { HubProcess } from '../hub/hub-process.js';
import { RawMqttDevice } from './raw-mqtt-device.js';
import { RawWebSocketDevice, webSocketHello } from './raw-websocket-device.js';

type Hub = Pick<HubProcess, 'httpPort' | 'mqttPort' | 'mqttsPort' | 'deviceSecret'>;

interface ServerHello {
  readonly type: string;
  readonly udp?: { readonly port: number; readonly key: string; readonly nonce: string };
}

export interface TalkingDevice {
  /** Gets each packet that comes back. */
  onpacket: (packet: Buffer) => void;
  speak(packet: Uint8Array): void;
  drop(): void;
}

/** A device on WebSocket whose hello was answered. */
export async function talkOverWebSocket(hub: Hub, mac: string): Promise<TalkingDevice> {
  const device = await RawWebSocketDevice.dial(hub, mac);
  const talking: TalkingDevice = {
    onpacket: () => undefined,
    speak: (packet) => device.socket.send(packet),
    drop: () => device.drop(),
  };
  device.answer = () => undefined;
  let isAnswered = false;
  device.socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) return talking.onpacket(data);
    const text = data.toString();
    isAnswered ||= (JSON.parse(text) as ServerHello).type === 'hello';
    const reply = answerAsFirmware(text);
    if (reply !== undefined) device.say(reply);
  });
  device.say(webSocketHello);
  await eventually(
    () => isAnswered,
    (is) => is,
    20_000,
  );
  return talking;
}

/** A device that talks to a voice server itself, without a hub between. */
export async function talkDirectly(url: string): Promise<TalkingDevice> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const talking: TalkingDevice = {
    onpacket: () => undefined,
    speak: (packet) => socket.send(packet),
    drop: () => socket.terminate(),
  };
  await once(socket, 'open');
  socket.send(webSocketHello);
  await once(socket, 'message');
  socket.on('message', (data: Buffer, isBinary) => isBinary && talking.onpacket(data));
  return talking;
}

/** A device on MQTT whose hello was answered, with its UDP channel. */
export async function talkOverMqtt(hub: Hub, mac: string): Promise<TalkingDevice> {
  const device = await RawMqttDevice.connect(hub, mac);
  device.say(JSON.stringify({ ...(JSON.parse(webSocketHello) as object), version: 3, transport: 'udp' }));
  const found = () =>
    device.messages.map((text) => JSON.parse(text) as ServerHello).find(({ type }) => type === 'hello');
  const hello = await eventually(found, (one) => one !== undefined, 20_000);
  if (hello?.udp === undefined) throw new Error('The hub answered the hello without a UDP channel.');
  const socket = createSocket('udp4');
  // A hub that is gone answers with ICMP; a device does not notice.
  socket.on('error', () => undefined);
  // A socket with one peer is asked for no address with each packet.
  socket.connect(hello.udp.port, '127.0.0.1');
  await once(socket, 'connect');
  return overUdp(socket, hello.udp, () => device.drop());
}

function overUdp(socket: Socket, { key, nonce }: NonNullable<ServerHello['udp']>, drop: () => void): TalkingDevice {
  const blocks = createCipheriv('aes-128-ecb', Buffer.from(key, 'hex'), null).setAutoPadding(false);
  const cipher = new CounterMode((counters) => blocks.update(counters));
  const ssrc = Buffer.from(nonce, 'hex').readUInt32BE(4);
  let sequence = 0;
  const talking: TalkingDevice = {
    onpacket: () => undefined,
    speak: (packet) => {
      sequence += 1;
      const datagram = Buffer.allocUnsafe(UDP_HEADER_BYTES + packet.length);
      writeUdpHeader(datagram, { length: packet.length, ssrc, timestamp: 60 * sequence, sequence });
      cipher.apply(datagram, packet, datagram, UDP_HEADER_BYTES);
      socket.send(datagram);
    },
    drop: () => {
      socket.close();
      drop();
    },
  };
  socket.on('message', (datagram) => {
    const packet = datagram.subarray(UDP_HEADER_BYTES);
    cipher.apply(datagram, packet, packet);
    talking.onpacket(packet);
  });
  return talking;
}
