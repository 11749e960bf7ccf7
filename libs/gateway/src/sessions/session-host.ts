/** What an ingress hands over: a connection with valid credentials, the same for all transports. */
import type { IncomingMessage } from 'node:http';
import type { DeviceId, DialectName, IncomingTransport, JsonObject, Transport, TransportKind } from '@flotilla/mcp';

export interface DeviceConnection {
  readonly deviceId: DeviceId;
  readonly kind: TransportKind;
  readonly dialect: DialectName;
  /** Open, not started, without callbacks. */
  readonly transport: Transport;
  readonly remoteAddress: string | undefined;
  /** The address of the hub that the device reached, to which it can return. */
  readonly localAddress: string | undefined;
  /** The Host header of its upgrade. */
  readonly host?: string | undefined;
  /** The unanswered hello of a WebSocket. */
  readonly hello?: JsonObject;
  /** The device's UUID, or what it sent instead. */
  readonly clientId?: string | undefined;
  /** The binary frames of a WebSocket. */
  readonly audio?: AudioPath;
  readonly will?: LastWill;
  /** `SessionHost.expulsions` before its credentials were checked; undefined without a check. */
  readonly expulsions?: number;
}

/** The audio beside the messages of one WebSocket. */
export interface AudioPath {
  /** Bytes, messages included, that the device has not received yet. */
  readonly unsentBytes: number;
  /** Returns false if it was not accepted. */
  sendFrame(frame: Uint8Array): boolean;
  onframe: ((frame: Uint8Array) => void) | undefined;
}

/** A message that an MQTT device asks to publish if its connection ends without DISCONNECT. */
export interface LastWill {
  readonly topic: string;
  readonly payload: string;
}

export interface SessionHost {
  /** Expulsions of devices so far: they make the earlier credentials of a device void. */
  readonly expulsions: number;
  /**
   * The device gets no session: no further one fits, or the gateway is stopping. A device with a
   * session may replace it.
   */
  isFullFor(deviceId: DeviceId): boolean;
  /**
   * Whether the device may have a session now, otherwise ms until it may. Counts the connection, so
   * it is called once for each.
   */
  welcome(deviceId: DeviceId, kind: IncomingTransport): 'welcome' | { readonly retryAfterMs: number };
  /** Writes an event about the connection of a device. */
  report(deviceId: DeviceId, type: 'device.throttled', data: Readonly<Record<string, unknown>>): void;
  /** Ends the device's session, because a newer connection will be admitted. */
  supersede(deviceId: DeviceId): void;
  /**
   * Ends the device's older session and starts a new one, with messages from the next turn on.
   * Closes the connection if there is no room, or if its credentials became void meanwhile.
   */
  admit(connection: DeviceConnection): void;
}

/** The addresses of a connection. */
export interface Peer {
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
}

export function peerOf(socket: Partial<Peer>): Peer {
  return { remoteAddress: plainAddress(socket.remoteAddress), localAddress: plainAddress(socket.localAddress) };
}

/** Returns the address of the client of a request, which a proxy may have forwarded. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/** For requests that do not come through a proxy. */
export const directAddress: ClientAddress = ({ socket }) => peerOf(socket).remoteAddress;

/** The addresses of an upgrade request. */
export function peerOfRequest(request: IncomingMessage, addressOf: ClientAddress): Peer {
  return { remoteAddress: addressOf(request), localAddress: peerOf(request.socket).localAddress };
}

/** IPv4 addresses without the prefix that dual-stack sockets put before them. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '');
}
