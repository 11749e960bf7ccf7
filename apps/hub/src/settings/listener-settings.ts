/** Settings of the listeners: address, ports, TLS, and the addresses that devices receive. */
import {
  defaultPublishTopic,
  MQTT_TLS_PORT,
  mqttAddressesOf,
  mqttEndpointOf,
  publicHostProblem,
  publicMqttProblem,
  publicUrlProblem,
  type MqttAddress,
} from '@flotilla/gateway';
import { z } from 'zod';
import { checked, choice, optionalText, port, portOrOff, textOr, unset } from './setting-kinds.js';

export const listenerSettings = {
  FLOTILLA_HOST: textOr('127.0.0.1'),
  FLOTILLA_HTTP_PORT: port(8080),
  FLOTILLA_MQTT_PORT: portOrOff(1883),
  FLOTILLA_MQTTS_PORT: port(8883),
  FLOTILLA_UDP_PORT: port(8884),
  FLOTILLA_PUBLIC_HOST: checked(publicHostProblem),
  FLOTILLA_PUBLIC_URL: checked(publicUrlProblem),
  FLOTILLA_OAUTH: choice(['on', 'off'], 'on'),
  FLOTILLA_PUBLIC_MQTT: checked(publicMqttProblem),
  FLOTILLA_OWN_MQTT: checked((text) =>
    mqttEndpointOf(text) === undefined ? 'must be one address, host or host:port, of FLOTILLA_PUBLIC_MQTT' : undefined,
  ),
  FLOTILLA_PUBLISH_TOPIC: z.preprocess(
    unset,
    z
      .string()
      .regex(
        /^[\w./-]{1,128}$/,
        'must be a topic of 1 to 128 letters, digits, dots, dashes and slashes, without wildcards',
      )
      .default(defaultPublishTopic),
  ),
  FLOTILLA_TLS_CERT: optionalText,
  FLOTILLA_TLS_KEY: optionalText,
};

export interface ListenerConfig {
  /** Address of all listeners. */
  readonly host: string;
  readonly httpPort: number;
  /** Undefined without plain MQTT over TCP. */
  readonly mqttPort: number | undefined;
  /** Port of MQTT over TLS, open when there is a certificate. */
  readonly mqttsPort: number;
  readonly udpPort: number;
  /** Host that devices receive for audio; by default the local address of their connection. */
  readonly publicHost: string | undefined;
  /** URL that devices receive instead of the address of their request. */
  readonly publicUrl: string | undefined;
  /** Agents connect with API keys alone. Without a public URL they do so anyway. */
  readonly isOauthOff: boolean;
  /** MQTT addresses of all gateways, among which OTA answers choose; empty without public ones. */
  readonly publicMqtt: readonly MqttAddress[];
  /** The one that leads to this gateway only. */
  readonly ownMqtt: string | undefined;
  /** Topic that MQTT devices publish to. */
  readonly publishTopic: string;
  /** PEM files. With them HTTP becomes HTTPS, and MQTT over TLS is open. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
}

type Values = z.infer<z.ZodObject<typeof listenerSettings>>;

export function listenersOf(values: Values): ListenerConfig {
  const { FLOTILLA_TLS_CERT: certFile, FLOTILLA_TLS_KEY: keyFile } = values;
  return {
    host: values.FLOTILLA_HOST,
    httpPort: values.FLOTILLA_HTTP_PORT,
    mqttPort: values.FLOTILLA_MQTT_PORT,
    mqttsPort: values.FLOTILLA_MQTTS_PORT,
    udpPort: values.FLOTILLA_UDP_PORT,
    publicHost: values.FLOTILLA_PUBLIC_HOST,
    publicUrl: values.FLOTILLA_PUBLIC_URL,
    isOauthOff: values.FLOTILLA_OAUTH === 'off',
    publicMqtt: mqttAddressesOf(values.FLOTILLA_PUBLIC_MQTT),
    ownMqtt: values.FLOTILLA_OWN_MQTT && mqttEndpointOf(values.FLOTILLA_OWN_MQTT),
    publishTopic: values.FLOTILLA_PUBLISH_TOPIC,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
  };
}

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Where this machine reaches the hub. */
export function localUrl({ host, httpPort, tls }: Pick<ListenerConfig, 'host' | 'httpPort' | 'tls'>): string {
  const name = everywhere[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `${tls === undefined ? 'http' : 'https'}://${name}:${httpPort}`;
}

/** Rules between these settings. The firmware of devices decides about TLS by the port alone. */
export function listenerContradictions(
  config: ListenerConfig & { readonly roles: readonly string[] },
  values: Values,
): string[] {
  const problems = config.roles.includes('gateway') ? sharedPorts(config) : [];
  if (config.mqttPort === MQTT_TLS_PORT)
    problems.push(`FLOTILLA_MQTT_PORT may not be ${MQTT_TLS_PORT}: devices use TLS on that port. Choose another port.`);
  if (config.mqttsPort !== MQTT_TLS_PORT && config.mqttsPort !== 0)
    problems.push(
      `FLOTILLA_MQTTS_PORT must be ${MQTT_TLS_PORT}, the only port on which devices use TLS, or 0 behind a TCP proxy.`,
    );
  const plain = config.publicMqtt.find(({ endpoint }) => !leadsToMqtts(endpoint, config));
  if (config.mqttPort === undefined && plain !== undefined)
    problems.push(
      `FLOTILLA_PUBLIC_MQTT with ${plain.endpoint} leads to plain MQTT, which FLOTILLA_MQTT_PORT=off closes. ` +
        `Remove it, or use port ${MQTT_TLS_PORT} and a certificate.`,
    );
  if (config.ownMqtt !== undefined && !config.publicMqtt.some(({ endpoint }) => endpoint === config.ownMqtt))
    problems.push(
      `FLOTILLA_OWN_MQTT names ${config.ownMqtt}, which is not in FLOTILLA_PUBLIC_MQTT. ` +
        'List the addresses of all gateways there, the same in all processes.',
    );
  if ((values.FLOTILLA_TLS_CERT === undefined) !== (values.FLOTILLA_TLS_KEY === undefined))
    problems.push('FLOTILLA_TLS_CERT and FLOTILLA_TLS_KEY belong together. Set both or none.');
  return problems;
}

/** A gateway opens them all; 0 picks a free port for each. */
function sharedPorts({ httpPort, mqttPort, mqttsPort, tls }: ListenerConfig): string[] {
  const others = Object.entries({ FLOTILLA_MQTT_PORT: mqttPort, FLOTILLA_MQTTS_PORT: tls && mqttsPort });
  return others
    .filter(([, port]) => port === httpPort && port !== 0)
    .map(([name]) => `FLOTILLA_HTTP_PORT and ${name} are both ${httpPort}. Choose another port for one of them.`);
}

function leadsToMqtts(endpoint: string, { tls }: ListenerConfig): boolean {
  return tls !== undefined && endpoint.endsWith(`:${MQTT_TLS_PORT}`);
}
