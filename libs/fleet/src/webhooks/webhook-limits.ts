/** The limits of webhooks, each with unit and reason. Specs shorten some of them. */
import type { Breaker } from '@flotilla/registry';

export interface WebhookLimits {
  /** Webhooks of one hub: each batch of events is compared with the types of every webhook. */
  readonly webhooksMax: number;
  /** Deliveries in flight for one webhook in all processes. More would disorder events further. */
  readonly perWebhook: number;
  /** Deliveries under way in one process, each a socket. */
  readonly atATime: number;
  /** From connecting to the last byte of the answer, ms: a receiver queues what takes longer. */
  readonly attemptMs: number;
  /** Bytes of a response body to read before the connection is closed. */
  readonly answerBytesMax: number;
  /** How much longer than an attempt a claim lasts, ms: for writing down how it ended. */
  readonly settleMs: number;
  /**
   * Ms to wait after the first failure of an event. With the sweep the second attempt follows
   * within ten seconds.
   */
  readonly retryMs: number;
  /** Each further wait is twice as long, up to this, ms. */
  readonly retryMsMax: number;
  /** Ms after which an undelivered event is dropped as too old. */
  readonly givenUpAfterMs: number;
  /** Ms of continuous failure after which a webhook is paused: longer than a usual outage. */
  readonly pausedAfterMs: number;
  /** Pending events after which a webhook is paused: some 200 MB, one hour of a storm. */
  readonly pendingMax: number;
  readonly breaker: Breaker;
}

export const defaultWebhookLimits: WebhookLimits = {
  webhooksMax: 25,
  perWebhook: 8,
  atATime: 100,
  attemptMs: 10_000,
  answerBytesMax: 64 * 1024,
  settleMs: 10_000,
  retryMs: 4_000,
  retryMsMax: 3_600_000,
  givenUpAfterMs: 3 * 86_400_000,
  pausedAfterMs: 86_400_000,
  pendingMax: 1_000_000,
  // Single failures among successes do not count. An unreachable receiver is tried every five
  // minutes.
  breaker: { failures: 10, pauseMs: 5_000, pauseMsMax: 300_000 },
};

/**
 * Ms until the next attempt. `chance` (0 to 1) shortens the wait, to spread simultaneous failures.
 */
export function retryDelayMs(
  { retryMs, retryMsMax }: Pick<WebhookLimits, 'retryMs' | 'retryMsMax'>,
  attempt: number,
  chance: number,
): number {
  const whole = Math.min(retryMs * 2 ** Math.min(attempt - 1, 30), retryMsMax);
  return Math.round(whole * (1 - chance / 4));
}
