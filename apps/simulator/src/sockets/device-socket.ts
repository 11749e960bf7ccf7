/** The byte path of one simulated device. One object is one connection attempt. */

/** Why a connection failed. `refused`: credentials rejected. `unanswered`: no usable OTA answer. */
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
   * Ends the connection; nothing is reported afterwards. `silent` simulates lost Wi-Fi: the
   * connection stays open without traffic until it is closed again.
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
