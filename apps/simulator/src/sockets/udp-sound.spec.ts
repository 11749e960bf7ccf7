/** The sound of devices on MQTT against a bare broker and a bare UDP socket. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { generate, parser } from 'mqtt-packet';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Fleet } from '../fleet.js';
import { readOptions } from '../command/options.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Answers each hello with a channel to the port for sound. */
async function startHub() {
  const senders = new Set<string>();
  const sound = createSocket('udp4', (_datagram, { address }) => senders.add(address)).bind(0, '127.0.0.1');
  await once(sound, 'listening');
  const udp = { server: '127.0.0.1', port: sound.address().port, key: '0'.repeat(32), nonce: `01${'0'.repeat(30)}` };
  const hello = JSON.stringify({ type: 'hello', transport: 'udp', session_id: 's', udp });
  const broker = createServer((socket) => {
    const packets = parser();
    packets.on('packet', ({ cmd }) => {
      if (cmd === 'connect') socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }));
      else if (cmd === 'publish')
        socket.write(generate({ cmd, topic: 't', qos: 0, dup: false, retain: false, payload: hello }));
    });
    socket.on('data', (bytes) => packets.parse(bytes)).on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  closers.push(
    () => void sound.close(),
    () => void broker.close(),
  );
  return { mqttPort: (broker.address() as AddressInfo).port, senders };
}

describe('the sound of a device', () => {
  it('comes from the source address of its connection', async () => {
    const { mqttPort, senders } = await startHub();
    const settings = ['--devices', '2', '--local-addresses', '2', '--direct', '--secret', 'x'];
    const options = readOptions(['node', 'simulate', ...settings, '--mqtt-port', String(mqttPort)], {});
    let connected = 0;
    const fleet = new Fleet(options, {
      onconnected: () => (connected += 1),
      ondisconnected: () => undefined,
      onfailed: () => undefined,
      onnotice: () => undefined,
    });
    closers.push(() => fleet.stop());
    fleet.start();
    await vi.waitFor(() => expect(connected).toBe(2));
    for (const device of fleet.select('*')) device.behave({ kind: 'talk', packets: 1 });
    await vi.waitFor(() => expect([...senders].sort()).toEqual(['127.0.0.1', '127.0.0.2']));
  });
});
