/**
 * The public MQTT addresses of a hub, among which OTA answers choose: `host:port=weight` in
 * FLOTILLA_PUBLIC_MQTT, with commas. Devices parse only names and IPv4 addresses. [xiaozhi §2.1]
 */
import { isIPv4 } from 'node:net';

export interface MqttAddress {
  /** `host:port`, as devices receive it. */
  readonly endpoint: string;
  /** The share of devices in comparison with the other addresses. */
  readonly weight: number;
}

/** The port for which the firmware uses TLS. */
export const MQTT_TLS_PORT = 8883;

/** A name or an IPv4 address. */
export const hostPattern = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?';

/** More than gateways of any fleet; each answer computes a number for each address. */
const ADDRESSES_MAX = 64;
const WEIGHT_MAX = 1_000;
const PORT_MAX = 65_535;

const entryPattern = new RegExp(`^(${hostPattern})(?::(\\d{1,5}))?(?:=(\\d{1,4}))?$`);

/** The address of an entry without a weight. Undefined if it is not valid. */
export function mqttEndpointOf(text: string): string | undefined {
  return text.includes('=') ? undefined : readEntry(text)?.endpoint;
}

/** Returns the error in a FLOTILLA_PUBLIC_MQTT, if any. A scheme restarts devices in a loop. */
export function publicMqttProblem(text: string): string | undefined {
  const entries = entriesOf(text);
  const wrong = entries.find((entry) => readEntry(entry) === undefined);
  if (wrong !== undefined)
    return (
      `must list host, host:port or host:port=weight (port 1 to ${PORT_MAX}, weight 1 to ${WEIGHT_MAX}), ` +
      `with names or IPv4 addresses and without a scheme, not "${wrong}"`
    );
  if (entries.length > ADDRESSES_MAX) return `must have at most ${ADDRESSES_MAX} addresses`;
  const endpoints = entries.map((entry) => readEntry(entry)?.endpoint);
  const twice = endpoints.find((endpoint, index) => endpoints.indexOf(endpoint) !== index);
  return twice === undefined ? undefined : `must have each address once, not ${twice} twice`;
}

/** The addresses of a valid text. */
export function mqttAddressesOf(text: string | undefined): readonly MqttAddress[] {
  return entriesOf(text ?? '').flatMap((entry) => readEntry(entry) ?? []);
}

function entriesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Digits and dots alone are no name. */
export function isWrongAddress(host: string): boolean {
  return /^[\d.]+$/.test(host) && !isIPv4(host);
}

/** Without a port, devices use the one of TLS. */
function readEntry(entry: string): MqttAddress | undefined {
  const [, host, portText, weightText] = entryPattern.exec(entry) ?? [];
  const port = portText === undefined ? MQTT_TLS_PORT : Number(portText);
  const weight = weightText === undefined ? 1 : Number(weightText);
  if (host === undefined || isWrongAddress(host) || port < 1 || port > PORT_MAX || weight < 1 || weight > WEIGHT_MAX)
    return undefined;
  return { endpoint: `${host}:${port}`, weight };
}
