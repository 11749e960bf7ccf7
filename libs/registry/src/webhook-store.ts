import type { AuditSource } from './audit/audit-entry.js';
import type { EventRow } from './events/event-store.js';

/** An address that is told of events. */
export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  /** Exact types, `device.*` for all that begin with `device.`, `*` for all. */
  readonly types: readonly string[];
  readonly enabled: boolean;
  readonly createdAt: number;
  /** Since when no delivery has succeeded, if the last one failed. */
  readonly failingSince: number | undefined;
  /** When the hub stopped delivering by itself. */
  readonly pausedAt: number | undefined;
}

/** One attempt to deliver one event. */
export interface WebhookDeliveryRow {
  readonly id: string;
  readonly eventId: string;
  /** 1 is the first. */
  readonly attempt: number;
  /** Of HTTP; undefined where no answer came. */
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly at: number;
  readonly delivered: boolean;
}

/** A claimed debt: whoever holds it delivers or releases it before the claim lapses. */
export interface OwedEvent {
  readonly webhookId: string;
  readonly url: string;
  readonly secret: string;
  readonly eventId: string;
  /** Undefined where retention has removed it. */
  readonly event: EventRow | undefined;
  /** The attempt that this claim is for. */
  readonly attempt: number;
  readonly owedAt: number;
}

/** How an attempt ended. */
export interface DeliveryEnd {
  readonly owed: OwedEvent;
  readonly at: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** `given-up` ends the debt like `delivered`; `retry` leaves it for later. */
  readonly result: { readonly kind: 'delivered' | 'given-up' } | { readonly kind: 'retry'; readonly afterMs: number };
}

/** How a webhook is left alone whose deliveries fail one after another. */
export interface Breaker {
  /** Failures in a row after which it is tried by one delivery at a time, and only now and then. */
  readonly failures: number;
  /** The first of those pauses, doubled by each further failure, ms. */
  readonly pauseMs: number;
  readonly pauseMsMax: number;
}

interface Change {
  readonly at: number;
  readonly by?: AuditSource;
}

export type RedeliveryAnswer =
  { readonly kind: 'owed'; readonly webhook: WebhookRow } | { readonly kind: 'NOT_FOUND' | 'EVENT_GONE' | 'DISABLED' };

/** How webhooks are, all together. */
export interface WebhookBacklog {
  /** Webhooks to which the hub stopped delivering by itself. */
  readonly paused: number;
  /** Events that enabled webhooks are still owed, up to the most that are counted. */
  readonly owed: number;
  /** For how long the oldest of them has been owed, ms; 0 where none is. */
  readonly oldestMs: number;
}

/** Webhooks, what they are owed, and what became of it. Debts come into being with the events, in the statement that writes them. */
export interface WebhookStore {
  all(): Promise<readonly WebhookRow[]>;
  /** Undefined where it would be one more than `webhooksMax`. */
  create(
    webhook: Pick<WebhookRow, 'url' | 'types' | 'enabled'> & { readonly secret: string },
    how: Change & { readonly webhooksMax: number },
  ): Promise<WebhookRow | undefined>;
  /** One that is enabled again begins afresh, with all that it is still owed. Undefined: there is none. */
  update(
    id: string,
    webhook: Pick<WebhookRow, 'url' | 'types' | 'enabled'>,
    how: Change,
  ): Promise<WebhookRow | undefined>;
  /** With what it is owed. False where there is none. */
  remove(id: string, how: Change): Promise<boolean>;
  /** Makes the event of an attempt owed once more. */
  redeliver(deliveryId: string, how: Change): Promise<RedeliveryAnswer>;
  /** Latest first, for each webhook. */
  deliveriesOf(webhookIds: readonly string[], first: number): Promise<readonly (readonly WebhookDeliveryRow[])[]>;
  /** Takes debts that are due, the oldest of each webhook first. A claim that nobody settles lapses after `claimMs`, and the event is delivered again. */
  claim(request: {
    readonly limit: number;
    readonly perWebhook: number;
    readonly claimMs: number;
    readonly breaker: Breaker;
  }): Promise<readonly OwedEvent[]>;
  /** Records an attempt. Resolves to since when the webhook fails; undefined where it does not, or is gone. */
  settle(end: DeliveryEnd, breaker: Breaker): Promise<number | undefined>;
  /** Gives a claim back as if it had not been taken. */
  release(owed: OwedEvent): Promise<void>;
  /** Enabled webhooks that are owed more than that many events. */
  owedMoreThan(events: number): Promise<readonly string[]>;
  backlog(): Promise<WebhookBacklog>;
  /** Stops delivering to it. False where it was not enabled. */
  pause(id: string, reason: string, how: Change): Promise<boolean>;
  /** Removes attempts of before `before`, and what is left of removed webhooks and owed to disabled ones from before then. */
  removeOld(before: number): Promise<number>;
}
