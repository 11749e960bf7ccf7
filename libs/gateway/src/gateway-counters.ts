/** What the gateway counts for metrics. Numbers only ever grow, and every name comes from a closed list of ours, never from a device. */
import type { SessionAnomaly } from '@flotilla/session';
import type { AuthRefusal } from './auth/device-auth.js';
import type { DownloadOutcome } from './downloads/download-endpoint.js';
import type { GuardCut } from './mqtt/packet-guard.js';
import type { OtaOutcome } from './provisioning/ota/ota-endpoint.js';

/** Why a connection never became a session. */
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
  /** Strange things that sessions saw. */
  readonly anomaly:
    SessionAnomaly | 'notifications_dropped' | 'hello_invalid' | 'line_overlong' | 'topic_forbidden' | 'topic_abuse';
  /** Microcontrollers that were dialled again. */
  readonly dial: 'again';
  /** MQTT streams cut by the packet guard. */
  readonly guard_cut: GuardCut;
  readonly refusal: ConnectionRefusal;
  /** How OTA requests were answered. */
  readonly ota: OtaOutcome;
  /** How requests for firmware images ended. */
  readonly download: DownloadOutcome;
  /** Devices that sent more than they may: read more slowly, or cut. */
  readonly traffic: 'slowed' | 'cut';
  /** WebSockets cut because their device answered no ping. */
  readonly peer: 'silent';
  /** Questions of the hub for the state of devices. Put off: the device had something else to do. */
  readonly status: 'answered' | 'unanswered' | 'put_off';
  /** What microcontrollers were asked by plan: their samples, or whether they are there. Put off: the device had something else to do. */
  readonly poll: 'answered' | 'unanswered' | 'put_off';
  /** Devices that began to connect again and again. */
  readonly flapping: 'episodes';
  /** Devices that lost large requests, and that received one again. */
  readonly large_messages: 'lost' | 'received';
  /** Sessions replaced by a newer connection: all, and those of devices whose last replacement was a moment ago. */
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
