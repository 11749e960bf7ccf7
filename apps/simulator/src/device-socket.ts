/** The byte path of one simulated device, seen from its end. One object is one connection attempt; a further attempt takes a new one. */

/** Why a connection is not there. `refused` means that the hub did not accept the credentials. */
export interface Loss {
  readonly kind: 'unreachable' | 'refused' | 'lost';
  readonly detail: string;
}

export interface DeviceSocketEvents {
  /** The hub has accepted the device. */
  onopen(): void;
  onmessage(text: string): void;
  /** Comes at most once, and not after `close`. */
  onloss(loss: Loss): void;
}

export interface DeviceSocket {
  /** Only after `onopen`. */
  send(text: string): void;
  /** Ends the connection for good; nothing is reported afterwards. */
  close(how: 'graceful' | 'abrupt'): void;
}

/** Where and as whom to connect. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  /** Source address, where the fleet is larger than one address has ports. */
  readonly localAddress?: string | undefined;
}
