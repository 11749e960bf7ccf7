/**
 * Determines which addresses devices receive: the public ones if they are set, otherwise the
 * address at which their request arrived. Writes them in the few forms that the firmware's parsers
 * accept. [xiaozhi §1.1, §2.1]
 */

import { chooseAddress } from '../placement/choose-address.js';
import { hostPattern, isWrongAddress, MQTT_TLS_PORT } from '../placement/mqtt-addresses.js';
import type { MqttAddress } from '../placement/mqtt-addresses.js';

export interface AddressSettings {
  /** `http://…` or `https://…`, with a path if a proxy serves the hub below one. */
  readonly publicUrl: string | undefined;
  /** Each device gets one of them; undefined or empty without public addresses. */
  readonly publicMqtt: readonly MqttAddress[] | undefined;
  /** Whether devices may be sent to a public address now; by default to all. */
  readonly isNamed?: (endpoint: string) => boolean;
  /** Whether the hub has a certificate: then HTTP uses TLS, and MQTT uses TLS on port 8883. */
  readonly isTls: boolean;
  /** The host that people see before any device has connected. */
  readonly fallbackHost: string;
  /** Ports in use. Read for each answer, because listeners open late. */
  readonly httpPort: () => number;
  /** Undefined if there is no plain MQTT. */
  readonly mqttPort: () => number | undefined;
}

/** The address at which one request arrived. */
export interface ReachedAt {
  readonly localAddress: string | undefined;
  /**
   * The Host header, used with TLS (certificates are for names) and if the local address is IPv6,
   * which devices cannot use.
   */
  readonly host: string | undefined;
  /** The device that asks, also if the hub does not know it. */
  readonly deviceId?: string | undefined;
}

const bareHost = new RegExp(`^(${hostPattern})(?::\\d{1,5})?$`);
const hostAlone = new RegExp(`^${hostPattern}$`);

/**
 * Returns what is wrong with a FLOTILLA_PUBLIC_URL, if anything. A colon in its path restarts
 * devices in a loop.
 */
export function publicUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL that begins with http: or https:';
  if (!bareHost.test(url.host))
    return 'must name its host by a name or an IPv4 address, because devices cannot parse others';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'must have no user, query or fragment, because devices cannot parse them';
  if (url.pathname.includes(':')) return 'must have no colon in its path, because devices would take it for the port';
  return url.pathname.length > 256 ? 'must have a path of at most 256 characters' : undefined;
}

/** Returns what is wrong with a FLOTILLA_PUBLIC_HOST, if anything. */
export function publicHostProblem(text: string): string | undefined {
  return hostAlone.test(text) && !isWrongAddress(text)
    ? undefined
    : 'must be a host name or an IPv4 address, without port';
}

export class DeviceAddresses {
  readonly #publicUrl: URL | undefined;
  readonly #publicMqtt: readonly MqttAddress[];

  constructor(private readonly settings: AddressSettings) {
    this.#publicMqtt = settings.publicMqtt ?? [];
    this.#publicUrl = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl);
  }

  /** Whether devices can use MQTT over TCP; otherwise they use the WebSocket ingress. */
  get hasMqtt(): boolean {
    const { isTls, mqttPort } = this.settings;
    return this.#publicMqtt.length > 0 || isTls || mqttPort() !== undefined;
  }

  /** The host where no request shows one. */
  get host(): string {
    return this.#publicUrl?.hostname ?? this.settings.fallbackHost;
  }

  /** `host:port` for CONNECT of this device, with its port. Undefined if unknown. */
  mqttEndpoint(reached?: ReachedAt, deviceId = reached?.deviceId ?? ''): string | undefined {
    const { isTls, isNamed = () => true, mqttPort } = this.settings;
    if (this.#publicMqtt.length > 0) {
      const named = this.#publicMqtt.filter(({ endpoint }) => isNamed(endpoint));
      // Without an address in the answer, the device would keep its old one.
      return chooseAddress(named.length > 0 ? named : this.#publicMqtt, deviceId);
    }
    const host = this.#publicUrl?.hostname ?? this.#ownHost(reached);
    const port = isTls ? MQTT_TLS_PORT : mqttPort();
    return host === undefined || port === undefined ? undefined : `${host}:${port}`;
  }

  /** The URL of the WebSocket ingress of a dialect, with its port. Undefined if unknown. */
  webSocketUrl(reached?: ReachedAt, path: '/xiaozhi/v1/' | '/mcpu/v1/' = '/xiaozhi/v1/'): string | undefined {
    const base = this.#httpBase(reached);
    return base === undefined ? undefined : base.replace(/^http/, 'ws') + path;
  }

  /** The OTA URL of an enrolment link, or the general one. Devices require 10 characters. */
  otaUrl(token?: string): string {
    const base = this.#httpBase() ?? `http://localhost:${this.settings.httpPort()}`;
    return token === undefined ? `${base}/ota/` : `${base}/ota/${token}/`;
  }

  /** The URL of a path of this hub, which begins with a slash. Undefined if no address is known. */
  urlOf(path: string, reached?: ReachedAt): string | undefined {
    const base = this.#httpBase(reached);
    return base === undefined ? undefined : base + path;
  }

  /** Without a trailing slash. */
  #httpBase(reached?: ReachedAt): string | undefined {
    const url = this.#publicUrl;
    if (url) {
      const port = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : url.port;
      return `${url.protocol}//${url.hostname}:${port}${url.pathname.replace(/\/+$/, '')}`;
    }
    const host = this.#ownHost(reached);
    return host === undefined
      ? undefined
      : `${this.settings.isTls ? 'https' : 'http'}://${host}:${this.settings.httpPort()}`;
  }

  #ownHost(reached: ReachedAt | undefined): string | undefined {
    const { localAddress, host } = reached ?? { localAddress: this.settings.fallbackHost, host: undefined };
    const name = bareHost.exec(host ?? '')?.[1];
    if (this.settings.isTls && name !== undefined) return name;
    if (localAddress !== undefined && hostAlone.test(localAddress)) return localAddress;
    return name;
  }
}
