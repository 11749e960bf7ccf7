/** What the gateway counts for metrics. Numbers only ever grow, and every name comes from a closed list of ours, never from a device. */
import type { SessionAnomaly } from '@flotilla/session';
import type { AuthRefusal } from './auth/device-auth.js';
import type { GuardCut } from './mqtt/packet-guard.js';
import type { OtaOutcome } from './provisioning/ota-endpoint.js';

/** Why a connection never became a session. */
export type ConnectionRefusal =
  AuthRefusal | 'auth_unavailable' | 'identifier_rejected' | 'handshake_invalid' | 'hello_missing' | 'hub_full' | 'too_many_connections';

interface CounterKinds {
  /** Strange things that sessions saw. */
  readonly anomaly: SessionAnomaly | 'notifications_dropped' | 'hello_invalid' | 'topic_forbidden' | 'topic_abuse';
  /** MQTT streams cut by the packet guard. */
  readonly guard_cut: GuardCut;
  readonly refusal: ConnectionRefusal;
  /** How OTA requests were answered. */
  readonly ota: OtaOutcome;
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
