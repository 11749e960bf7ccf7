/** What bounds webhooks, each number with its unit and reason. Specs set some of them to go faster. */
import type { Breaker } from '@flotilla/registry';

export interface WebhookLimits {
  /** Webhooks of one hub: the types of every batch of events are held against each. */
  readonly webhooksMax: number;
  /** Deliveries under way of one webhook, in all processes. More would press the receiver and mix the order of events further. */
  readonly perWebhook: number;
  /** Deliveries under way in one process, each a socket. */
  readonly atATime: number;
  /** From connecting to the last byte of the answer, ms: a receiver queues what takes longer. */
  readonly attemptMs: number;
  /** Bytes of an answer that are read before the connection is given up; nobody looks at them. */
  readonly answerBytesMax: number;
  /** How much longer than an attempt a claim lasts, ms: for writing down how it ended. */
  readonly settleMs: number;
  /** The wait after the first failure of an event, ms. With the sweep that ends it, the second attempt comes within ten seconds. */
  readonly retryMs: number;
  /** Each further wait is twice as long, up to this, ms. */
  readonly retryMsMax: number;
  /** An event that could not be delivered for so long is given up, ms: what it tells is history by then. */
  readonly givenUpAfterMs: number;
  /** A webhook to which nothing could be delivered for so long is paused, ms: a day is longer than an outage that somebody works on. */
  readonly pausedAfterMs: number;
  /** A webhook that is owed more events is paused: some 200 MB of rows, an hour of a fleet in a storm. */
  readonly owedMax: number;
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
  owedMax: 1_000_000,
  // Failures of single events pass unnoticed among successes; a receiver that is down is asked every five minutes at last.
  breaker: { failures: 10, pauseMs: 5_000, pauseMsMax: 300_000 },
};

/** Wait until the next attempt after that many, ms. `chance` (0 to 1) spreads those that failed together; the wait is only ever shortened by it. */
export function retryDelayMs(
  { retryMs, retryMsMax }: Pick<WebhookLimits, 'retryMs' | 'retryMsMax'>,
  attempt: number,
  chance: number,
): number {
  const whole = Math.min(retryMs * 2 ** Math.min(attempt - 1, 30), retryMsMax);
  return Math.round(whole * (1 - chance / 4));
}
