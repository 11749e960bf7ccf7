/**
 * The connection settings of a microcontroller that dials the hub, as `registerDevice` returned
 * them. [mcpu §6.1]
 */
import { z } from 'zod';
import type { DeviceSocket, DeviceSocketEvents } from '../sockets/device-socket.js';
import { MqttSocket } from '../sockets/mqtt-socket.js';
import { WebSocketSocket } from '../sockets/websocket-socket.js';

const webSocketSettings = z.object({ url: z.url(), device_id: z.string(), token: z.string() });
const mqttSettings = z.object({
  endpoint: z.string().regex(/^[^:]+:\d+$/),
  client_id: z.string(),
  username: z.string(),
  password: z.string(),
  publish_topic: z.string(),
  subscribe_topic: z.string(),
  keepalive: z.number(),
});

export const boardSettingsSchema = z.union([
  webSocketSettings.transform((settings) => ({
    kind: 'websocket' as const,
    deviceId: settings.device_id,
    ...settings,
  })),
  mqttSettings.transform((settings) => ({ kind: 'mqtt' as const, deviceId: settings.username, ...settings })),
]);

export type BoardSettings = z.infer<typeof boardSettingsSchema>;

/** By convention of the hub, as for all devices. */
const MQTT_TLS_PORT = 8883;

export function openBoardSocket(settings: BoardSettings, events: DeviceSocketEvents): DeviceSocket {
  if (settings.kind === 'websocket') {
    const { hostname, pathname, port, protocol } = new URL(settings.url);
    const isTls = protocol === 'wss:';
    const target = { host: hostname, port: Number(port || (isTls ? 443 : 80)), isTls, ca: undefined };
    return new WebSocketSocket(
      target,
      { path: pathname, headers: { 'Device-Id': settings.device_id }, token: settings.token },
      events,
    );
  }
  const [host = '', port = ''] = settings.endpoint.split(':');
  const target = { host, port: Number(port), isTls: Number(port) === MQTT_TLS_PORT, ca: undefined };
  const login = {
    clientId: settings.client_id,
    credentials: { username: settings.username, password: settings.password },
    keepAliveSeconds: settings.keepalive,
    publishTopic: settings.publish_topic,
    subscribeTopic: settings.subscribe_topic,
    protocolLevel: 4 as const,
  };
  return new MqttSocket(target, login, events);
}
