/**
 * A model of the hub for random histories of one rule. It stores what PostgreSQL stores and applies
 * the decisions of this folder; a crash may come between any two steps.
 */
import type { Condition } from './condition.js';
import { decideFiring, GROUP_WINDOW_MS } from './decide-firing.js';
import { channelsToResolve } from './decide-notifying.js';
import { decideResolving } from './decide-resolving.js';
import { CHANNEL_PACE_MS, nextMessage, retryAfterMs } from './decide-sending.js';

const rule = { kind: 'DEVICE_OFFLINE', forSeconds: 20, groupAbove: 3 } as const;
export const devices = Array.from({ length: 8 }, (_, index) => `device-${index}`);
const roundMs = 2_000;

interface StoredNotification {
  readonly id: string;
  readonly alertId: string;
  readonly kind: 'FIRED' | 'RESOLVED';
  messageId: string | undefined;
  deliveredAt: number | undefined;
}

interface StoredCondition extends Condition {
  alertId: string | undefined;
  firedAt: number | undefined;
  clearedAt: number | undefined;
}

/** What the other end received. */
export interface Receipt {
  readonly messageId: string;
  readonly at: number;
  readonly kind: 'FIRED' | 'RESOLVED';
  readonly alertIds: readonly string[];
}

export class ModelHub {
  readonly offline = new Map<string, { readonly since: number; readonly byHub: boolean }>();
  readonly conditions = new Map<string, StoredCondition>();
  readonly alerts = new Map<string, { readonly devices: Set<string>; groupUntil: number; isResolved: boolean }>();
  readonly outbox: StoredNotification[] = [];
  readonly receipts: Receipt[] = [];
  now = 1_000_000;
  startedAt = 0;
  isUp = true;
  pacedUntil = 0;
  /** Whether the other end of the channel accepts messages. */
  isAccepting = true;
  failures = 0;
  retryAt = 0;

  drop(device: string, byHub = false): void {
    if (!this.offline.has(device)) this.offline.set(device, { since: this.now, byHub });
  }

  /** Back for long enough to be seen: a shorter return begins the condition again. */
  back(device: string): void {
    this.offline.delete(device);
    const condition = this.conditions.get(device);
    if (condition?.alertId === undefined) this.conditions.delete(device);
  }

  /** One transaction. */
  evaluate(): void {
    for (const [device, { since, byHub }] of this.offline) {
      const known = this.conditions.get(device);
      if (known !== undefined) known.clearedAt = undefined;
      else {
        const fresh = { alertId: undefined, firedAt: undefined, clearedAt: undefined };
        this.conditions.set(device, { subject: device, deviceId: device, beganAt: since, byHub, facts: {}, ...fresh });
      }
    }
    for (const condition of this.conditions.values())
      if (!this.offline.has(condition.subject)) condition.clearedAt ??= this.now;
    this.#fire();
    this.#resolve();
  }

  #fire(): void {
    const all = [...this.conditions.values()];
    const group = [...this.alerts].findLast(([, alert]) => !alert.isResolved && alert.groupUntil >= this.now);
    const state = {
      waiting: all.filter(({ alertId }) => alertId === undefined),
      firedRecently: all.filter(({ firedAt }) => firedAt !== undefined && firedAt > this.now - GROUP_WINDOW_MS).length,
      openGroup: group && { alertId: group[0], until: group[1].groupUntil },
    };
    const { fired, joined } = decideFiring(rule, state, { startedAt: this.startedAt, graceMs: 30_000 }, this.now);
    for (const { conditions, groupUntil } of fired) {
      const id = `alert-${this.alerts.size}`;
      this.alerts.set(id, { devices: new Set(), groupUntil: groupUntil ?? 0, isResolved: false });
      this.#attach(id, conditions);
      this.#notify(id, 'FIRED');
    }
    if (joined !== undefined) this.#attach(joined.alertId, joined.conditions);
  }

  #attach(alertId: string, conditions: readonly Condition[]): void {
    for (const { subject } of conditions) {
      Object.assign(this.conditions.get(subject) ?? {}, { alertId, firedAt: this.now });
      this.alerts.get(alertId)?.devices.add(subject);
    }
  }

  #resolve(): void {
    const fired = [...this.conditions.values()].flatMap(({ subject, alertId, clearedAt }) =>
      alertId === undefined ? [] : [{ subject, alertId, clearedAt }],
    );
    const { ended, resolved } = decideResolving(rule, fired, this.now);
    for (const { subject } of ended) this.conditions.delete(subject);
    for (const id of resolved) {
      const alert = this.alerts.get(id);
      if (alert !== undefined) alert.isResolved = true;
      const sent = this.outbox
        .filter(({ alertId }) => alertId === id)
        .map(({ kind, deliveredAt }) => {
          const state = deliveredAt === undefined ? ('WAITING' as const) : ('DELIVERED' as const);
          return { channelId: 'chat', kind, state };
        });
      if (channelsToResolve(sent).length > 0) this.#notify(id, 'RESOLVED');
    }
  }

  #notify(alertId: string, kind: 'FIRED' | 'RESOLVED'): void {
    const id = String(this.outbox.length).padStart(6, '0');
    this.outbox.push({ id, alertId, kind, messageId: undefined, deliveredAt: undefined });
  }

  /** Claim, send and settle, each of which may be the last step before a crash. */
  deliver(crashAfter: 'never' | 'claim' | 'send'): void {
    if (this.now < Math.max(this.pacedUntil, this.retryAt)) return;
    const isHeard = (id: string) =>
      this.outbox.some((each) => each.alertId === id && each.kind === 'FIRED' && each.deliveredAt !== undefined);
    const waiting = this.outbox.filter(({ deliveredAt }) => deliveredAt === undefined);
    const next = nextMessage(
      waiting.map((each) => ({
        ...each,
        ruleId: 'offline',
        subject: this.#subjectOf(each.alertId),
        isFiringDelivered: isHeard(each.alertId),
      })),
      this.failures,
    );
    if (next === undefined) return;
    const messageId = next.messageId ?? `message-${this.receipts.length}-${this.now}`;
    const rows = this.outbox.filter(({ id }) => next.notifications.some((each) => each.id === id));
    for (const row of rows) row.messageId = messageId;
    if (crashAfter === 'claim') return this.crash();
    if (!this.isAccepting) {
      this.failures += 1;
      this.retryAt = this.now + retryAfterMs(this.failures);
      return;
    }
    const kind = rows[0]?.kind ?? 'FIRED';
    this.receipts.push({
      messageId,
      at: this.now,
      kind,
      alertIds: rows.map(({ alertId }) => alertId),
    });
    if (crashAfter === 'send') return this.crash();
    for (const row of rows) row.deliveredAt = this.now;
    this.failures = 0;
    this.pacedUntil = this.now + CHANNEL_PACE_MS;
  }

  #subjectOf(alertId: string): string | undefined {
    const alert = this.alerts.get(alertId);
    return alert === undefined || alert.groupUntil > 0 ? undefined : [...alert.devices][0];
  }

  crash(): void {
    this.isUp = false;
    for (const device of devices) this.drop(device, true);
  }

  restart(returning: readonly string[]): void {
    this.isUp = true;
    this.startedAt = this.now;
    for (const device of returning) this.back(device);
  }

  round(crashAfter: 'never' | 'claim' | 'send' = 'never'): void {
    this.now += roundMs;
    if (!this.isUp) return;
    this.evaluate();
    this.deliver(crashAfter);
  }
}
