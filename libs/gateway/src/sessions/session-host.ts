/** What a way in hands over: a connection that proved whose it is. Behind it every device is the same, whichever way it came. */
import type { IncomingMessage } from 'node:http';
import type { DeviceId, JsonObject, Transport } from '@flotilla/mcp';

export interface Arrival {
  readonly deviceId: DeviceId;
  readonly kind: 'MQTT' | 'WEBSOCKET' | 'TCP';
  /** XIAOZHI where it is not given. */
  readonly dialect?: 'XIAOZHI' | 'MCPU';
  /** Open, not started, without callbacks. */
  readonly transport: Transport;
  readonly remoteAddress: string | undefined;
  /** Address of ours that the device reached: what it can be told to come back to. */
  readonly localAddress: string | undefined;
  /** The Host header of its upgrade. */
  readonly host?: string | undefined;
  /** Of a WebSocket: the hello with which the device opened its conversation, not answered yet. */
  readonly hello?: JsonObject;
  /** The device's UUID, or what it gave for it. */
  readonly clientId?: string | undefined;
  /** Of a WebSocket: its binary frames. */
  readonly audio?: AudioPath;
  readonly will?: LastWill;
}

/** The audio beside the messages of one WebSocket. */
export interface AudioPath {
  /** Bytes, messages included, that the device has not taken yet. */
  readonly unsentBytes: number;
  /** False when it was not accepted. */
  sendFrame(frame: Uint8Array): boolean;
  onframe: ((frame: Uint8Array) => void) | undefined;
}

/** What an MQTT device wants to be known if it goes without DISCONNECT. Text of the device's, no longer than its CONNECT. */
export interface LastWill {
  readonly topic: string;
  readonly payload: string;
}

export interface SessionHost {
  /** No further session fits, or the gateway is stopping. */
  readonly isFull: boolean;
  /**
   * Whether the device may have a session now; to be asked once for each connection that proved whose it is, because it counts. Where not, ms until it may: the device
   * connects again and again.
   */
  welcome(deviceId: DeviceId, kind: Exclude<Arrival['kind'], 'TCP'>): 'welcome' | { readonly retryAfterMs: number };
  /** Writes down what befell a device on its connection. */
  report(deviceId: DeviceId, type: 'device.throttled', data: Readonly<Record<string, unknown>>): void;
  /** Ends the session that the device has, because a newer connection of it is about to be admitted. */
  supersede(deviceId: DeviceId): void;
  /** Starts a session; whatever session the device had ends first. Messages may be delivered from the next turn on. */
  admit(arrival: Arrival): void;
}

/** Where a connection comes from and where it arrived. */
export interface Peer {
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
}

export function peerOf(socket: Partial<Peer>): Peer {
  return { remoteAddress: plainAddress(socket.remoteAddress), localAddress: plainAddress(socket.localAddress) };
}

/** The address of whoever made a request, which a proxy may have passed on. */
export type ClientAddress = (request: IncomingMessage) => string | undefined;

/** Of a request that whoever connected made themselves. */
export const directAddress: ClientAddress = ({ socket }) => peerOf(socket).remoteAddress;

/** Likewise of an upgrade. */
export function peerOfRequest(request: IncomingMessage, addressOf: ClientAddress): Peer {
  return { remoteAddress: addressOf(request), localAddress: peerOf(request.socket).localAddress };
}

/** IPv4 addresses without the prefix that dual-stack sockets put before them. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/i, '');
}
