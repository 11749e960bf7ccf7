/**
 * Delivers pending events to webhooks. Ticks wake it, and its state is in PostgreSQL: another
 * process claims the work of a dead one again. Delivers at least once, and roughly in order.
 */
import type { Bus } from '@flotilla/bus';
import type { PendingDelivery, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { defaultWebhookLimits, retryDelayMs } from './webhook-limits.js';
import type { WebhookLimits } from './webhook-limits.js';
import { pauseWebhook } from './pause-webhook.js';
import { WebhookSender } from './webhook-sender.js';
import type { AttemptEnd } from './webhook-sender.js';

export interface WebhookDeliveriesDeps {
  readonly registry: Pick<Registry, 'events' | 'webhooks'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  /** Origins that may be anywhere. */
  readonly trustedOrigins: readonly string[];
  readonly limits?: WebhookLimits;
}

/**
 * Ms between checks for webhooks with too many pending events; a storm adds some ten thousand in
 * between.
 */
const PENDING_LOOK_MS = 60_000;
/** The receiver wants no more deliveries. [RFC 9110 §15.5.11] */
const GONE = 410;

/** How recorded attempts ended since the process began. */
type DeliveryCounts = Readonly<Record<'delivered' | 'failed' | 'given_up', number>>;

export class WebhookDeliveries {
  readonly #limits: WebhookLimits;
  readonly #sender: WebhookSender;
  readonly #stopped = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #rounds: Promise<void> | undefined;
  #isChanged = false;
  #onChange: () => void = () => undefined;
  #lookedAt = 0;
  readonly #counts = { delivered: 0, failed: 0, given_up: 0 };

  constructor(private readonly deps: WebhookDeliveriesDeps) {
    this.#limits = deps.limits ?? defaultWebhookLimits;
    this.#sender = new WebhookSender(deps.trustedOrigins, this.#limits);
  }

  /** `given_up` events also count as `failed`, unless they were too old to be tried. */
  get counts(): DeliveryCounts {
    return { ...this.#counts };
  }

  /** Something may be due. Returns at once. */
  wake(): void {
    this.#changed();
    if (this.#stopped.signal.aborted) return;
    this.#rounds ??= this.#goRound()
      .catch((error: unknown) => {
        this.#isChanged = false;
        this.deps.logger.warn({ err: error }, 'could not read the pending webhook deliveries');
      })
      .finally(() => {
        this.#rounds = undefined;
        // Woken after the last look.
        if (this.#isChanged) this.wake();
      });
  }

  /** Interrupts the deliveries in flight. They stay pending for the next process. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#changed();
    await this.#rounds;
    await Promise.all(this.#underWay);
    await this.#sender.close();
  }

  async #goRound(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#isChanged = false;
      // In each turn, because a round goes on for as long as slow receivers have deliveries.
      await this.#lookForTooMuch();
      const claimed = await this.#claim();
      for (const pending of claimed) this.#begin(pending);
      if (claimed.length > 0 && this.#underWay.size < this.#limits.atATime) continue;
      if (this.#underWay.size === 0 && !this.#isChanged) return;
      await this.#change();
    }
  }

  async #claim(): Promise<readonly PendingDelivery[]> {
    const { atATime, perWebhook, attemptMs, settleMs, breaker } = this.#limits;
    const limit = atATime - this.#underWay.size;
    return limit <= 0
      ? []
      : this.deps.registry.webhooks.claim({ limit, perWebhook, claimMs: attemptMs + settleMs, breaker });
  }

  /** Until a delivery ends, or something new may be due. A change since the last look counts. */
  async #change(): Promise<void> {
    if (!this.#isChanged && !this.#stopped.signal.aborted)
      await new Promise<void>((resolve) => (this.#onChange = resolve));
    this.#onChange = () => undefined;
  }

  #changed(): void {
    this.#isChanged = true;
    this.#onChange();
  }

  #begin(pending: PendingDelivery): void {
    const delivery = this.#deliver(pending)
      .catch((error: unknown) =>
        this.deps.logger.warn(
          { err: error, webhookId: pending.webhookId, eventId: pending.eventId },
          'a delivery was not recorded: it comes again',
        ),
      )
      .finally(() => {
        this.#underWay.delete(delivery);
        this.#changed();
      });
    this.#underWay.add(delivery);
  }

  async #deliver(pending: PendingDelivery): Promise<void> {
    const { clock, registry } = this.deps;
    const { event, url, secret } = pending;
    const at = clock.now();
    if (event === undefined) {
      const error = 'Given up: the event is older than what is kept.';
      const settled = { pending, at, status: undefined, error, result: { kind: 'given-up' } } as const;
      await registry.webhooks.settle(settled, this.#limits.breaker);
      this.#counts.given_up += 1;
      return;
    }
    let end: AttemptEnd;
    try {
      end = await this.#sender.send({ url, secret, event, at }, this.#stopped.signal);
    } catch {
      return registry.webhooks.release(pending);
    }
    const result = this.#resultOf(pending, end);
    const failingSince = await registry.webhooks.settle({ pending, at, ...end, result }, this.#limits.breaker);
    this.#counts[end.error === undefined ? 'delivered' : 'failed'] += 1;
    if (result.kind === 'given-up') this.#counts.given_up += 1;
    await this.#pauseIfHopeless(pending, end, failingSince);
  }

  #resultOf({ attempt, pendingSince }: PendingDelivery, { error }: AttemptEnd) {
    if (error === undefined) return { kind: 'delivered' } as const;
    if (this.deps.clock.now() - pendingSince >= this.#limits.givenUpAfterMs) return { kind: 'given-up' } as const;
    return { kind: 'retry', afterMs: retryDelayMs(this.#limits, attempt, Math.random()) } as const;
  }

  async #pauseIfHopeless(
    { webhookId, url }: PendingDelivery,
    { status, error }: AttemptEnd,
    failingSince: number | undefined,
  ): Promise<void> {
    if (error === undefined || failingSince === undefined) return;
    if (status === GONE) return pauseWebhook(this.deps, webhookId, 'The receiver answered 410 (gone).', url);
    if (this.deps.clock.now() - failingSince < this.#limits.pausedAfterMs) return;
    const since = new Date(failingSince).toISOString();
    await pauseWebhook(this.deps, webhookId, `Nothing could be delivered since ${since}; last: ${error}`, url);
  }

  async #lookForTooMuch(): Promise<void> {
    const { clock, registry } = this.deps;
    const now = clock.now();
    // It is later than now if the clock was set back.
    if (now >= this.#lookedAt && now - this.#lookedAt < PENDING_LOOK_MS) return;
    this.#lookedAt = now;
    const { pendingMax } = this.#limits;
    for (const id of await registry.webhooks.pendingMoreThan(pendingMax))
      await pauseWebhook(
        this.deps,
        id,
        `More than ${pendingMax} events are pending. The receiver is too slow for its event types.`,
      );
  }
}
