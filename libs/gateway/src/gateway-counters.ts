/** Counters for metrics. They only grow, and no name comes from a device. */
import type { SessionAnomaly } from '@flotilla/session';
import type { AuthRefusal } from './auth/device-auth.js';
import type { DownloadOutcome } from './downloads/download-endpoint.js';
import type { StreamFault } from './mqtt/packet-reader.js';
import type { OtaOutcome } from './provisioning/ota/ota-endpoint.js';

/** Why a connection did not become a session. */
export type ConnectionRefusal =
  | AuthRefusal
  | 'auth_unavailable'
  | 'identifier_rejected'
  | 'handshake_invalid'
  /** No CONNECT, no hello, or no subscription of a microcontroller, in time. */
  | 'connect_missing'
  | 'hello_missing'
  | 'subscription_missing'
  | 'hub_full'
  | 'too_many_connections'
  /** Too many failed attempts from its address. */
  | 'address_limited'
  /** The device connects again and again. */
  | 'flapping';

interface CounterKinds {
  /** Unexpected behaviour of devices. */
  readonly anomaly:
    | SessionAnomaly
    | 'notifications_dropped'
    | 'samples_dropped'
    | 'conversation_events_dropped'
    | 'hello_invalid'
    | 'hellos_dropped'
    | 'line_overlong'
    | 'topic_forbidden'
    | 'topic_abuse';
  /** Microcontrollers that were dialled again. */
  readonly dial: 'again';
  /** MQTT streams that broke a rule of framing, and were cut. */
  readonly guard_cut: StreamFault;
  readonly refusal: ConnectionRefusal;
  /** How OTA requests were answered. */
  readonly ota: OtaOutcome;
  /** How requests for firmware images ended. */
  readonly download: DownloadOutcome;
  /** Devices that sent more than they may: throttled, or cut. */
  readonly traffic: 'slowed' | 'cut';
  /** WebSockets cut because their device answered no ping. */
  readonly peer: 'silent';
  /** Status calls to devices. Put off: the device was busy. */
  readonly status: 'answered' | 'unanswered' | 'put_off';
  /** Scheduled polls of microcontrollers for samples or presence. Put off: the device was busy. */
  readonly poll: 'answered' | 'unanswered' | 'put_off';
  /** Devices that began to connect again and again. */
  readonly flapping: 'episodes';
  /** Devices that lost large requests, and that received one again. */
  readonly large_messages: 'lost' | 'received';
  /** Sessions replaced by a newer connection: all, and repeated ones within a short time. */
  readonly takeover: 'all' | 'flapping';
}

export interface GatewayCount {
  readonly name: string;
  readonly count: number;
}

export class GatewayCounters {
  readonly #counts = new Map<string, number>();

  add<Family extends keyof CounterKinds>(family: Family, kind: CounterKinds[Family]): void {
    const name = `${family}_${kind}`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  list(): readonly GatewayCount[] {
    return [...this.#counts].map(([name, count]) => ({ name, count }));
  }
}
