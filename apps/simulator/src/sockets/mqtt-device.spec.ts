/** An MQTT device against a bare TCP peer that speaks through mqtt-packet. */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { generate, parser, type IConnectPacket, type IPublishPacket, type Packet } from 'mqtt-packet';
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../fleet.js';
import type { Loss } from './device-socket.js';
import type { SimulatorOptions } from '../command/options.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The next items of a stream, one at a time. */
class Inbox<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];
  put(item: T): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(item);
    else this.#items.push(item);
  }
  next(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item);
  }
}

interface Peer {
  readonly port: number;
  readonly packets: Inbox<Packet>;
  readonly socket: () => Socket;
  readonly closed: Inbox<true>;
}

async function startPeer(returnCode = 0): Promise<Peer> {
  const packets = new Inbox<Packet>();
  const closed = new Inbox<true>();
  let last: Socket | undefined;
  const server = createServer((socket) => {
    last = socket;
    const library = parser();
    library.on('packet', (packet) => {
      if (packet.cmd === 'connect') socket.write(generate({ cmd: 'connack', returnCode, sessionPresent: false }));
      packets.put(packet);
    });
    socket.on('data', (bytes) => library.parse(bytes)).on('error', () => undefined);
    socket.on('close', () => closed.put(true));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    last?.destroy();
    server.close();
  });
  const socket = () => {
    if (!last) throw new Error('no device has connected');
    return last;
  };
  return { port: (server.address() as AddressInfo).port, packets, socket, closed };
}

function startFleet(
  mqttPort: number,
  changes: Partial<SimulatorOptions> = {},
): { fleet: Fleet; losses: Inbox<Loss>; mac: string } {
  const losses = new Inbox<Loss>();
  const options: SimulatorOptions = {
    devices: 1,
    transport: 'mqtt',
    profile: 'lamp',
    host: '127.0.0.1',
    ota: undefined,
    ca: undefined,
    speed: 1,
    network: 'wifi',
    mqttPort,
    httpPort: 1,
    secret: 'secret',
    dataDir: '/nonexistent',
    rate: 0,
    seed: 3,
    isJson: true,
    answerDelayMs: 0,
    reconnectMs: 0,
    bootMs: 0,
    downloadKibPerSecond: 0,
    keepAliveSeconds: 1,
    mqttLevel: 4,
    localAddresses: 1,
    mcpu: 0,
    mcpuFaulty: 0,
    mcpuHost: '127.0.0.1',
    mcpuPort: 0,
    mcpuCredentials: [],
    behaviours: [],
    knobs: [],
    knobDevices: 0,
    ...changes,
  };
  const put = (loss?: Loss) => loss && losses.put(loss);
  const fleet = new Fleet(options, {
    onconnected: () => undefined,
    ondisconnected: put,
    onfailed: put,
    onnotice: () => undefined,
  });
  closers.push(() => fleet.stop());
  fleet.start();
  const [first] = [...fleet.entries()];
  return { fleet, losses, mac: first?.[0] ?? '' };
}

function push(peer: Peer, payload: string): void {
  peer.socket().write(generate({ cmd: 'publish', topic: 'anything', qos: 0, dup: false, retain: false, payload }));
}

async function reply(peer: Peer): Promise<{ topic: string; message: { payload: { id: number; result?: unknown } } }> {
  for (;;) {
    const packet = await peer.packets.next();
    if (packet.cmd !== 'publish') continue;
    const { topic, payload } = packet satisfies IPublishPacket;
    return { topic, message: JSON.parse(payload.toString()) };
  }
}

const call = (id: number, name: string) =>
  JSON.stringify({
    type: 'mcp',
    payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } },
  });

describe('an MQTT device', () => {
  it('connects with its credentials and says nothing but pings until it is asked', async () => {
    const peer = await startPeer();
    startFleet(peer.port);
    const connect = (await peer.packets.next()) as IConnectPacket;
    expect(connect).toMatchObject({ cmd: 'connect', protocolVersion: 4, clean: true, keepalive: 1 });
    expect(connect.clientId).toMatch(/^GID_bread-compact-wifi@@@02_00_03_00_00_00@@@[0-9a-f-]{36}$/);
    expect(connect.password?.toString()).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect((await peer.packets.next()).cmd).toBe('pingreq');
  });

  it('answers a pushed call on its publish topic and changes its state', async () => {
    const peer = await startPeer();
    const { fleet, mac } = startFleet(peer.port);
    await peer.packets.next();
    push(peer, call(1, 'self.lamp.turn_on'));
    expect(await reply(peer)).toMatchObject({
      topic: 'device-server',
      message: { payload: { id: 1, result: { isError: false } } },
    });
    push(peer, call(2, 'self.lamp.get_state'));
    expect(JSON.stringify((await reply(peer)).message)).toContain('\\"power\\": true');
    expect(fleet.select(mac)[0]?.device.toolCounts.get('self.lamp.turn_on')).toBe(1);
  });

  it('reconnects after the peer has dropped it', async () => {
    const peer = await startPeer();
    const { losses } = startFleet(peer.port);
    expect((await peer.packets.next()).cmd).toBe('connect');
    peer.socket().destroy();
    expect((await losses.next()).kind).toBe('lost');
    expect((await peer.packets.next()).cmd).toBe('connect');
  });

  it('ends with a DISCONNECT when it reboots, and breaks the socket in a call on command', async () => {
    const peer = await startPeer();
    const { fleet, mac } = startFleet(peer.port, { keepAliveSeconds: 0 });
    await peer.packets.next();
    fleet.select(mac)[0]?.behave({ kind: 'disconnectInCall', times: 1 });
    push(peer, call(1, 'self.lamp.turn_on'));
    await peer.closed.next();
    expect((await peer.packets.next()).cmd).toBe('connect');
    push(peer, call(2, 'self.reboot'));
    expect((await peer.packets.next()).cmd).toBe('disconnect');
    expect((await peer.packets.next()).cmd).toBe('connect');
  });

  it('says why it was refused', async () => {
    const peer = await startPeer(5);
    const { losses } = startFleet(peer.port, { reconnectMs: 60_000 });
    expect(await losses.next()).toEqual({ kind: 'refused', detail: 'CONNACK 5: not authorised' });
  });

  it('reports a hub that is not there', async () => {
    const peer = await startPeer();
    for (const close of closers.splice(0)) close();
    const { losses } = startFleet(peer.port, { reconnectMs: 60_000 });
    expect(await losses.next()).toMatchObject({ kind: 'unreachable', detail: expect.stringContaining('ECONNREFUSED') });
  });
});
