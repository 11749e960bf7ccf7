/** Messages between the bench and its processes, the voice server and the devices. */
import type { Arrivals } from './stamped-packet.js';

interface HubAddress {
  readonly httpPort: number;
  readonly mqttPort: number;
  readonly mqttsPort: number;
  readonly deviceSecret: string;
}

/** Sent once: the address of the hub or, for the comparison, of the voice server. */
export interface ConnectRequest {
  readonly conversations: number;
  readonly to: HubAddress | { readonly voiceServer: string };
}

/** Starts speech; packets from `countFrom` to `until` (ms, monotonic clock) are counted. */
export interface SpeakRequest {
  readonly countFrom: number;
  readonly until: number;
}

export interface DevicesReport {
  /** Packets that counted. */
  readonly spoken: number;
  readonly heard: Arrivals;
}

/** What the voice server received since the last question. */
export interface ServerReport {
  readonly heard: Arrivals;
}
