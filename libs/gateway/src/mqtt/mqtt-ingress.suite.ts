/** An MQTT ingress behind a TCP server for specs, and devices that connect to it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { ingressOptions, listen } from '../ingress.suite.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { peerOf } from '../sessions/session-host.js';
import { MqttDevice } from './mqtt-device.suite.js';
import { MqttIngress } from './mqtt-ingress.js';
import type { MqttIngressOptions } from './mqtt-ingress.js';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export async function openIngress({
  limits,
  ...change
}: Partial<Omit<MqttIngressOptions, 'limits'>> & { limits?: Partial<GatewayLimits> } = {}) {
  const defaults = ingressOptions();
  const options = { ...defaults, ...change, limits: { ...defaults.limits, ...limits } };
  const mqtt = new MqttIngress(options);
  await mqtt.start();
  const server = createServer((socket) => mqtt.accept(socket, peerOf(socket)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    await mqtt.stop();
    await new Promise((resolve) => server.close(resolve));
  });
  const dial = () => MqttDevice.dial((server.address() as AddressInfo).port);
  return {
    dial,
    host: defaults.host,
    lobby: options.lobby,
    count: (name: string) => countOf(options.counters.list(), name),
  };
}

function countOf(counts: readonly { readonly name: string; readonly count: number }[], name: string): number {
  return counts.find((count) => count.name === name)?.count ?? 0;
}

/** Connects a device and listens to its messages. */
export async function enter(
  ingress: Awaited<ReturnType<typeof openIngress>>,
  change: Parameters<MqttDevice['connect']>[0] = {},
) {
  const device = await ingress.dial();
  device.connect(change);
  const connection = await ingress.host.connection(ingress.host.connections.length + 1);
  return { device, connection, heard: listen(connection) };
}
