import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { FleetSecretAuth } from '../auth/fleet-secret-auth.js';
import { GatewayCounters } from '../gateway-counters.js';
import { ingressOptions, realClock } from '../ingress.suite.js';
import { DeviceFailures } from '../overload/device-failures.js';
import { Lobby } from '../overload/lobby.js';
import { xiaozhiClientId } from './mqtt-device.suite.js';
import type { MqttDevice } from './mqtt-device.suite.js';
import { MqttIngress } from './mqtt-ingress.js';
import { enter, openIngress } from './mqtt-ingress.suite.js';

describe('MqttIngress rejects connections', () => {
  const auth = new FleetSecretAuth({ secret: 'Hub-Signing-Key-01', clock: { now: () => 0 } });
  const username = 'eyJpcCI6IjE5Mi4wLjIuNDQifQ==';
  const password = Buffer.from('cRoD84Ahoo4Yhs5g8896WnwsCSy3eIoPJg7Us/40gKQ=');

  it('accepts the right password', async () => {
    const { device } = await enter(await openIngress({ auth }), { username, password });
    expect(await device.connack()).toBe(0);
  });

  it.each([
    ['a wrong password', { username, password: Buffer.alloc(44, 'x') }, 4],
    ['no credentials', {}, 5],
    ['a two-part client id without credentials', { clientId: 'GID_lab@@@02_5e_7a_10_c4_9f' }, 5],
    ['an empty client id', { clientId: '' }, 2],
    ['a bare MAC', { clientId: '02:5e:7a:10:c4:9f', username, password }, 2],
    ['an endless client id', { clientId: 'x'.repeat(300), username, password }, 2],
    ['MQTT 5', { protocolVersion: 5 as const, username, password }, 1],
  ])('refuses %s with the return code that fits, and closes', async (_case, change, code) => {
    const ingress = await openIngress({ auth });
    const device = await ingress.dial();
    device.connect(change);
    expect(await device.connack()).toBe(code);
    await device.closed();
    expect(ingress.host.connections).toEqual([]);
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(0));
  });

  it('counts no refusal for MQTT 5, by which the doctor finds the hub', async () => {
    const counters = new GatewayCounters();
    const device = await (await openIngress({ counters })).dial();
    device.connect({ protocolVersion: 5 });
    await device.closed();
    expect(counters.list()).toEqual([]);
  });

  it('refuses an empty client id with a session to keep', async () => {
    const ingress = await openIngress({ auth });
    const device = await ingress.dial();
    // CONNECT with all flags 0: mqtt-packet refuses to write it.
    device.writeBytes(Buffer.of(0x10, 12, 0, 4, ...Buffer.from('MQTT'), 4, 0, 0, 60, 0, 0));
    expect(await device.connack()).toBe(2);
    await device.closed();
  });

  it('answers "unavailable" when the credentials cannot be checked', async () => {
    const broken = {
      checkMqtt: () => Promise.reject(new Error('no database')),
      checkWebSocket: () => Promise.reject(new Error('no database')),
    };
    const ingress = await openIngress({ auth: broken });
    const device = await ingress.dial();
    device.connect();
    expect(await device.connack()).toBe(3);
    expect(ingress.count('refusal_auth_unavailable')).toBe(1);
  });

  it('answers "unavailable" when no further session fits', async () => {
    const ingress = await openIngress();
    ingress.host.isFull = true;
    const device = await ingress.dial();
    device.connect();
    expect(await device.connack()).toBe(3);
  });

  it('limits unauthenticated connections, and accepts more when some are closed', async () => {
    const ingress = await openIngress();
    const strangers = await Promise.all(Array.from({ length: 20 }, () => ingress.dial()));
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(20));
    const last = await ingress.dial();
    await last.closed();
    expect(ingress.count('refusal_too_many_connections')).toBe(1);
    for (const stranger of strangers) stranger.conn.destroy();
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(0));
    await enter(ingress);
  });

  it('counts no failed attempt of a connection that makes room for one from another address', async () => {
    const options = ingressOptions();
    const attempts = new DeviceFailures(realClock, { burst: 1, perSecond: 0.001, addressesMax: 10 });
    // Each connection comes a second after the one before, so that the lobby's rate allows it.
    let now = 0;
    const lobby = new Lobby({ ...options.limits, unprovenConnectionsMax: 2 }, { now: () => (now += 1_000) });
    const mqtt = new MqttIngress({ ...options, attempts, lobby });
    await mqtt.start();
    const connect = (remoteAddress: string) => {
      const stream = new PassThrough();
      mqtt.accept(stream, { remoteAddress, localAddress: undefined });
      return stream;
    };
    const [oldest] = [connect('192.0.2.1'), connect('192.0.2.1')];
    const closed = once(oldest, 'close');
    connect('192.0.2.2');
    await closed;
    expect(attempts.mayConnect('192.0.2.1')).toBe(true);
    await mqtt.stop();
  });

  it('cuts a connection that never sends CONNECT', async () => {
    const ingress = await openIngress({ limits: { introductionTimeoutMs: 50 } });
    const device = await ingress.dial();
    await device.closed();
    await vi.waitFor(() => expect(ingress.lobby.size).toBe(0));
  });

  it.each([
    ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'guard_cut_connect_expected'],
    ['a header that claims 256 MB', Buffer.of(0x10, 0xff, 0xff, 0xff, 0x7f), 'guard_cut_packet_too_large'],
    ['an endless length', Buffer.of(0x10, 0x80, 0x80, 0x80, 0x80), 'guard_cut_malformed_length'],
  ])('cuts %s', async (_case, bytes, counter) => {
    const ingress = await openIngress();
    const device = await ingress.dial();
    device.writeBytes(bytes);
    await device.closed();
    expect(ingress.count(counter)).toBe(1);
    expect(ingress.host.connections).toEqual([]);
  });

  it.each([
    ['CONNECT a second time', (device: MqttDevice) => device.connect()],
    ['a message beyond 64 KiB', (device: MqttDevice) => device.publish('x'.repeat(65_536))],
    ['a wildcard in a topic', (device: MqttDevice) => device.publish('x', 'a/#')],
    ['bytes that are not a packet', (device: MqttDevice) => device.writeBytes(Buffer.of(0x62, 0x00, 0xff, 0xff))],
  ])('cuts a device that sends %s, as a broken rule', async (_case, misbehave) => {
    const { device, heard } = await enter(await openIngress());
    misbehave(device);
    await device.closed();
    await vi.waitFor(() => expect(heard.closes).toEqual(['protocol_error']));
    expect(heard.messages).toEqual([]);
  });

  it('hands a will to the session, publishes none, and keeps nothing of a session', async () => {
    const ingress = await openIngress();
    const will = { topic: 'devices/p2p/02_5e_7a_10_c4_a0', payload: Buffer.from('boo'), qos: 0 as const, retain: true };
    const first = await enter(ingress, { clean: false, will });
    expect(first.connection.will).toEqual({ topic: will.topic, payload: 'boo' });
    first.device.conn.destroy();
    await vi.waitFor(() => expect(first.heard.closes).toEqual(['connection_lost']));
    const again = await enter(ingress, { clean: false, clientId: xiaozhiClientId });
    expect((await again.device.packet('connack')).sessionPresent).toBe(false);
  });
});
