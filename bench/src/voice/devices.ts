/** The devices, run as a child process. Each sends a packet every 60 ms, evenly distributed. */
import {
  talkDirectly,
  talkOverMqtt,
  talkOverWebSocket,
  type TalkingDevice,
} from '@flotilla/test/devices/talking-device';
import { macOf } from './bench-devices.js';
import type { ConnectRequest, DevicesReport, SpeakRequest } from './messages.js';
import { ArrivalLog, now, stampedPacket } from './stamped-packet.js';

const PACKET_MS = 60;
/** Devices that send their hello at the same time. */
const AT_A_TIME = 25;
/** Time after the last packet in which packets on their way still arrive. */
const LATE_MS = 2_000;

const devices: TalkingDevice[] = [];

async function connect({ conversations, to }: ConnectRequest): Promise<void> {
  const dial = (index: number) =>
    'voiceServer' in to
      ? talkDirectly(to.voiceServer)
      : (index % 2 === 0 ? talkOverWebSocket : talkOverMqtt)(to, macOf(index));
  while (devices.length < conversations) {
    const some = Array.from(
      { length: Math.min(AT_A_TIME, conversations - devices.length) },
      (_unused, offset) => devices.length + offset,
    );
    devices.push(...(await Promise.all(some.map(dial))));
  }
  process.send?.({ connected: devices.length });
}

async function speak({ countFrom, until }: SpeakRequest): Promise<void> {
  const log = new ArrivalLog();
  for (const device of devices) device.onpacket = (packet) => void log.take(packet);
  const begunAt = now();
  let said = 0;
  let spoken = 0;
  for (let at = now(); at < until; at = now()) {
    for (; begunAt + (said * PACKET_MS) / devices.length <= at; said += 1) {
      const isCounted = at >= countFrom;
      devices[said % devices.length]?.speak(stampedPacket(isCounted));
      if (isCounted) spoken += 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise((resolve) => setTimeout(resolve, LATE_MS));
  const report: DevicesReport = { spoken, heard: log.summary() };
  process.send?.(report);
}

process.on(
  'message',
  (request: ConnectRequest | SpeakRequest) => void ('until' in request ? speak(request) : connect(request)),
);
process.once('disconnect', () => process.exit());
