/**
 * Reads the connection settings from flash with the firmware's own parsers, which crash on some
 * texts. [xiaozhi §1.1, §2.1]
 */
import { leadingInteger } from './leading-integer.js';
import type { Nvs } from './nvs.js';

interface MqttSettings {
  readonly transport: 'mqtt';
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly clientId: string;
  readonly username: string;
  readonly password: string;
  readonly keepAliveSeconds: number;
  /** Empty: the device can say nothing. */
  readonly publishTopic: string;
}

interface WebSocketSettings {
  readonly transport: 'websocket';
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** With the query. */
  readonly path: string;
  /** Empty if not set. */
  readonly token: string;
  readonly version: number;
}

export type TransportSettings = MqttSettings | WebSocketSettings;

/** `absent`: there is nothing to connect to, so the device stays away until its next boot. */
type SettingsReading = TransportSettings | 'absent' | { readonly crash: string };

/** The port by which the firmware decides that MQTT goes over TLS. [xiaozhi §2.2] */
const MQTT_TLS_PORT = 8883;
const KEEP_ALIVE_SECONDS = 240;

export function transportSettings(nvs: Nvs, transport: 'mqtt' | 'websocket'): SettingsReading {
  return transport === 'mqtt' ? mqttSettings(nvs) : webSocketSettings(nvs);
}

function mqttSettings(nvs: Nvs): SettingsReading {
  const endpoint = nvs.text('mqtt', 'endpoint');
  if (endpoint === '') return 'absent';
  const colon = endpoint.indexOf(':');
  const port = colon < 0 ? MQTT_TLS_PORT : leadingInteger(endpoint.slice(colon + 1));
  if (port === undefined)
    return { crash: `the MQTT endpoint ${JSON.stringify(endpoint)} has no number behind its first colon` };
  return {
    transport: 'mqtt',
    host: colon < 0 ? endpoint : endpoint.slice(0, colon),
    port,
    isTls: port === MQTT_TLS_PORT,
    clientId: nvs.text('mqtt', 'client_id'),
    username: nvs.text('mqtt', 'username'),
    password: nvs.text('mqtt', 'password'),
    keepAliveSeconds: nvs.number('mqtt', 'keepalive') ?? KEEP_ALIVE_SECONDS,
    publishTopic: nvs.text('mqtt', 'publish_topic'),
  };
}

/**
 * The first colon after the scheme starts the port, wherever it is; a query without a path is part
 * of the host.
 */
function webSocketSettings(nvs: Nvs): SettingsReading {
  const url = nvs.text('websocket', 'url');
  const [, scheme = '', rest = ''] = /^(.*?):\/\/(.*)$/s.exec(url) ?? [];
  if (rest === '') return 'absent';
  const isTls = scheme === 'wss' || scheme === 'https';
  const colon = rest.indexOf(':');
  const behind = colon < 0 ? rest : rest.slice(colon + 1);
  const slash = behind.indexOf('/');
  const head = slash < 0 ? behind : behind.slice(0, slash);
  const port = colon < 0 ? (isTls ? 443 : 80) : leadingInteger(head);
  if (port === undefined)
    return { crash: `the WebSocket URL ${JSON.stringify(url)} has no number behind its first colon` };
  return {
    transport: 'websocket',
    host: colon < 0 ? head : rest.slice(0, colon),
    port,
    isTls,
    path: slash < 0 ? '/' : behind.slice(slash),
    token: nvs.text('websocket', 'token'),
    version: nvs.number('websocket', 'version') || 1,
  };
}
