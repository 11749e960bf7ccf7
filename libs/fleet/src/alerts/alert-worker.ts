/**
 * Evaluates the rules in one process at a time, and delivers notifications in each. Nothing is in
 * memory only: another process continues after a crash.
 */
import type { Bus } from '@flotilla/bus';
import type { HubStart } from '@flotilla/signals';
import { RegistryError } from '@flotilla/registry';
import type { AlertRuleRow, ConditionSource, ProcessLease, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { NotificationDeliveries } from './notification-deliveries.js';
import type { DeliveryDeps } from './notification-deliveries.js';
import { conditionSourceOf } from './rule-sources.js';
import type { RuleSourceDeps } from './rule-sources.js';

interface AlertWorkerDeps extends Omit<RuleSourceDeps, 'registry'>, Omit<DeliveryDeps, 'registry'> {
  readonly registry: RuleSourceDeps['registry'] & DeliveryDeps['registry'] & Pick<Registry, 'alertEvaluation'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly lease: Pick<ProcessLease, 'id'>;
  readonly timing?: Partial<AlertTiming>;
}

interface AlertTiming {
  /** Between two rounds, ms. A round that takes longer is followed by a longer pause. */
  readonly everyMs: number;
  /** How long after its last round a process without a sign of life evaluates no more, ms. */
  readonly leaseMs: number;
  /**
   * How long devices may take to return after a start of the hub, ms: the lease and two minutes.
   */
  readonly graceMs: number;
}

export const alertTiming: AlertTiming = { everyMs: 2_000, leaseMs: 10_000, graceMs: 15_000 + 120_000 };
/** A round may take this part of the time at most. */
const LOAD_MAX = 0.2;
/** The longest pause, ms. A round that PostgreSQL held up says nothing about the load. */
const PAUSE_MS_MAX = 30_000;

interface FoundSource {
  readonly source: ConditionSource | undefined;
  readonly problem: RegistryError | undefined;
}

const nothing: FoundSource = { source: undefined, problem: undefined };

export class AlertWorker {
  readonly #timing: AlertTiming;
  readonly #deliveries: NotificationDeliveries;
  /** Rules that could not be evaluated the last time, so that each is logged once. */
  readonly #failing = new Set<string>();
  #cancelTimer: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #roundMs = 0;

  constructor(private readonly deps: AlertWorkerDeps) {
    this.#timing = { ...alertTiming, ...deps.timing };
    this.#deliveries = new NotificationDeliveries(deps);
  }

  get counts(): NotificationDeliveries['counts'] {
    return this.#deliveries.counts;
  }

  /** How long the last round took, ms. */
  get roundMs(): number {
    return this.#roundMs;
  }

  start(): void {
    this.#next(0);
  }

  /** Evaluates once, where this process may. Callers at the same time share one round. */
  async run(): Promise<void> {
    await (this.#running ??= this.#round().finally(() => (this.#running = undefined)));
  }

  /** When no delivery is under way. */
  delivered(): Promise<void> {
    return this.#deliveries.idle();
  }

  /** Interrupts deliveries in flight: they are for the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer();
    await this.#running?.catch(() => undefined);
    await this.#deliveries.stop();
  }

  #next(delayMs: number): void {
    if (this.#isStopped) return;
    this.#cancelTimer = this.deps.clock.setTimer(delayMs, () => {
      const since = performance.now();
      this.run()
        .catch((error: unknown) =>
          this.deps.logger.warn({ err: error }, 'could not evaluate the alert rules; trying again'),
        )
        .finally(() => {
          this.#roundMs = performance.now() - since;
          this.#next(pauseAfter(this.#roundMs, this.#timing.everyMs));
        });
    });
  }

  async #round(): Promise<void> {
    const { clock, lease, registry } = this.deps;
    if (this.#isStopped) return;
    const isOurs = await registry.alertEvaluation.take(lease.id, clock.now(), this.#timing.leaseMs);
    if (isOurs) await this.#evaluateAll();
    this.#deliveries.wake();
  }

  async #evaluateAll(): Promise<void> {
    const { clock, registry } = this.deps;
    const rules = await registry.alertEvaluation.rules();
    if (rules.length === 0) return;
    // Without a gateway all devices are offline because of the hub.
    const startedAt = (await registry.alertEvaluation.hubStartedAt()) ?? clock.now();
    const hub = { startedAt, graceMs: this.#timing.graceMs };
    for (const rule of rules) {
      if (this.#isStopped) return;
      if (!(await this.#evaluate(rule, hub))) return;
    }
  }

  /**
   * False where another process evaluates now. A rule that cannot be evaluated does not stop
   * others.
   */
  async #evaluate(rule: AlertRuleRow, hub: HubStart): Promise<boolean> {
    const { bus, clock, lease, registry } = this.deps;
    const now = clock.now();
    try {
      const { source, problem } = rule.enabled ? await this.#findSource(rule, hub, now) : nothing;
      const events = await registry.alertEvaluation.evaluate(lease.id, rule, source, { hub, now });
      for (const event of events ?? []) bus.feed.publish('event', event);
      if (problem === undefined) this.#failing.delete(rule.id);
      else this.#warn(rule, problem, 'a device group of an alert rule was deleted; the rule applies to no device');
      return events !== undefined;
    } catch (error) {
      this.#warn(rule, error, 'could not evaluate an alert rule');
      return true;
    }
  }

  /** Without its device group a rule applies to no device, and its conditions end. */
  async #findSource(rule: AlertRuleRow, hub: HubStart, now: number): Promise<FoundSource> {
    try {
      return { source: await conditionSourceOf(this.deps, rule, hub, now), problem: undefined };
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'ARGUMENT_INVALID')
        return { source: undefined, problem: error };
      throw error;
    }
  }

  #warn(rule: AlertRuleRow, error: unknown, message: string): void {
    if (!this.#failing.has(rule.id)) this.deps.logger.warn({ err: error, ruleId: rule.id, rule: rule.name }, message);
    this.#failing.add(rule.id);
  }
}

/** The time until the round after one of this length, ms. */
export function pauseAfter(roundMs: number, everyMs: number): number {
  return Math.max(everyMs, Math.min(roundMs / LOAD_MAX, PAUSE_MS_MAX));
}
