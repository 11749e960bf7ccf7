/** The byte path of one simulated device, seen from its end. One object is one connection attempt; a further attempt takes a new one. */

/** Why a connection is not there. `refused`: the hub did not accept the credentials. `unanswered`: the OTA address gave no answer that leads on. */
export interface Loss {
  readonly kind: 'unreachable' | 'refused' | 'lost' | 'unanswered';
  readonly detail: string;
}

export interface DeviceSocketEvents {
  /** The hub has accepted the device. */
  onopen(): void;
  onmessage(text: string): void;
  /** A packet of Opus came beside the messages. */
  onaudio?(packet: Uint8Array): void;
  /** Comes at most once, and not after `close`. */
  onloss(loss: Loss): void;
}

export interface DeviceSocket {
  /** Only after `onopen`. */
  send(text: string): void;
  /** A packet of Opus; missing where sound takes another way than the messages. */
  sendAudio?(packet: Uint8Array): void;
  /**
   * Ends the connection for good; nothing is reported afterwards. `silent` is what the loss of Wi-Fi looks like from the hub: the connection stays, and nothing comes
   * or goes on it any more, until it is closed a second time.
   */
  close(how: 'graceful' | 'abrupt' | 'silent'): void;
}

/** Where and as whom to connect. */
export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Authorities that the device trusts besides the public ones, PEM. */
  readonly ca: string | undefined;
  /** Source address, where the fleet is larger than one address has ports. */
  readonly localAddress?: string | undefined;
}
