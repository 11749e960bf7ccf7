/**
 * Determines which addresses devices receive: the public ones if they are set, otherwise the
 * address at which their request arrived. Writes them in the few forms that the firmware's parsers
 * accept. [xiaozhi §1.1, §2.1]
 */

export interface AddressSettings {
  /** `http://…` or `https://…`, with a path if a proxy serves the hub below one. */
  readonly publicUrl: string | undefined;
  /** `host` or `host:port`, without a scheme. */
  readonly publicMqtt: string | undefined;
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
}

/** The port for which the firmware uses TLS. */
export const MQTT_TLS_PORT = 8883;

const hostPattern = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?';
const mqttEndpoint = new RegExp(`^(${hostPattern})(?::(\\d{1,5}))?$`);
const bareHost = new RegExp(`^(${hostPattern})(?::\\d{1,5})?$`);
const hostAlone = new RegExp(`^${hostPattern}$`);

/** Returns the error in a FLOTILLA_PUBLIC_MQTT, if any. A scheme restarts devices in a loop. */
export function publicMqttProblem(text: string): string | undefined {
  const [, host, port] = mqttEndpoint.exec(text) ?? [];
  if (host === undefined) return 'must be host or host:port, a name or an IPv4 address, without a scheme';
  return port === undefined || isPort(Number(port)) ? undefined : 'must have a port from 1 to 65535';
}

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

export class DeviceAddresses {
  readonly #publicUrl: URL | undefined;

  constructor(private readonly settings: AddressSettings) {
    this.#publicUrl = settings.publicUrl === undefined ? undefined : new URL(settings.publicUrl);
  }

  /** Whether devices can use MQTT over TCP; otherwise they use the WebSocket ingress. */
  get hasMqtt(): boolean {
    const { isTls, publicMqtt, mqttPort } = this.settings;
    return publicMqtt !== undefined || isTls || mqttPort() !== undefined;
  }

  /** `host:port` for CONNECT: without a port devices use 8883 and TLS. Undefined if unknown. */
  mqttEndpoint(reached?: ReachedAt): string | undefined {
    const { isTls, publicMqtt, mqttPort } = this.settings;
    if (publicMqtt !== undefined) return publicMqtt.includes(':') ? publicMqtt : `${publicMqtt}:${MQTT_TLS_PORT}`;
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

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
