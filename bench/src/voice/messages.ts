/** What the bench and its two processes, the voice server and the devices, say to each other. */
import type { Arrivals } from './stamped-packet.js';

export interface HubAddress {
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly mqttsPort: number;
  readonly deviceSecret: string;
}

/** Sent once: where to connect to, the hub or, for the comparison, the voice server itself. */
export interface ConnectRequest {
  readonly conversations: number;
  readonly to: HubAddress | { readonly voiceServer: string };
}

/** Speak from now on; packets sent from `countFrom` to `until` are counted, ms of the machine's monotonic clock. */
export interface SpeakRequest {
  readonly countFrom: number;
  readonly until: number;
}

export interface DevicesReport {
  /** Packets that counted. */
  readonly spoken: number;
  readonly heard: Arrivals;
}

/** What the voice server heard since it was asked last. */
export interface ServerReport {
  readonly heard: Arrivals;
}
