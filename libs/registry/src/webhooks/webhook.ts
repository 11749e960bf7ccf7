/** Webhooks, the outbox of events that they must receive, and the attempts to deliver them. */
import type { AuditSource } from '../audit/audit-entry.js';
import type { EventRow } from '../events/event-store.js';

/** An address that receives events. */
export interface WebhookRow {
  readonly id: string;
  readonly url: string;
  /** Exact types, a prefix such as `device.*`, or `*`. */
  readonly types: readonly string[];
  readonly enabled: boolean;
  readonly createdAt: number;
  /** Since when no delivery has succeeded, if the last one failed. */
  readonly failingSince: number | undefined;
  /** When the hub stopped delivering by itself. */
  readonly pausedAt: number | undefined;
}

export interface SignedWebhook extends WebhookRow {
  /** The key of the signatures. */
  readonly secret: string;
}

/** One attempt to deliver one event. */
export interface WebhookDeliveryRow {
  readonly id: string;
  readonly eventId: string;
  /** Undefined where retention has removed the event. */
  readonly eventType: string | undefined;
  /** 1 is the first. */
  readonly attempt: number;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly at: number;
  readonly delivered: boolean;
}

/** A claimed event of the outbox. Its holder delivers or releases it before the claim lapses. */
export interface PendingDelivery {
  readonly webhookId: string;
  readonly url: string;
  readonly secret: string;
  readonly eventId: string;
  /** Undefined where retention has removed it. */
  readonly event: EventRow | undefined;
  /** The attempt that this claim is for. */
  readonly attempt: number;
  /** Since when the event waits for its delivery. */
  readonly pendingSince: number;
}

/** How an attempt ended. */
export interface DeliveryEnd {
  readonly pending: PendingDelivery;
  readonly at: number;
  readonly status: number | undefined;
  readonly error: string | undefined;
  /** `given-up` and `delivered` remove the event from the outbox; `retry` leaves it there. */
  readonly result: { readonly kind: 'delivered' | 'given-up' } | { readonly kind: 'retry'; readonly afterMs: number };
}

/** How long a webhook is left alone when its deliveries fail one after another. */
export interface Breaker {
  /** Failures in a row after which the webhook gets one delivery at a time, with pauses. */
  readonly failures: number;
  /** The first of these pauses, doubled by each further failure, ms. */
  readonly pauseMs: number;
  readonly pauseMsMax: number;
}

export interface WebhookAction {
  readonly at: number;
  readonly by?: AuditSource;
}

export interface WebhookUpdate extends WebhookAction {
  /** Whether the stored webhook is still the one that the caller knows; any is if not given. */
  readonly isExpected?: ((stored: WebhookRow) => boolean) | undefined;
}

export interface ClaimRequest {
  readonly limit: number;
  readonly perWebhook: number;
  readonly claimMs: number;
  readonly breaker: Breaker;
}

export type RedeliveryAnswer =
  | { readonly kind: 'queued'; readonly webhook: WebhookRow }
  | { readonly kind: 'NOT_FOUND' | 'EVENT_GONE' | 'DISABLED' };

/** The state of all webhooks together. */
export interface WebhookBacklog {
  /** Webhooks to which the hub stopped delivering by itself. */
  readonly paused: number;
  /** Events in the outbox of enabled webhooks, up to the maximum that is counted. */
  readonly pending: number;
  /** The age of the oldest of them, ms; 0 without any. */
  readonly oldestMs: number;
}
