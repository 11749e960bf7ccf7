/**
 * Asks devices for their state: each once per interval, and again shortly after a tool that set
 * something. Only idle devices are asked, a few at a time; an operator's call never waits for it.
 * Scheduled calls are not recorded, because a fleet would fill the table; those after a set are.
 */
import { RecordIds } from '@flotilla/registry';
import type { CallStore } from '@flotilla/registry';
import type { CallId } from '@flotilla/mcp';
import type { Clock, SessionCall, SettledCall } from '@flotilla/session';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { reportAnswer } from '../measurements/device-reports.js';
import type { MeasurementRecorder } from '../measurements/measurement-recorder.js';
import { LookQueue } from './look-queue.js';
import type { StatusPlan } from './look-queue.js';
import { PollWheel } from './poll-wheel.js';
import { StateReports } from './state-reports.js';
import type { StateReportsOptions } from './state-reports.js';
import type { WatchedSession } from './watched-session.js';

interface StatusWatchOptions extends StateReportsOptions {
  readonly registry: StateReportsOptions['registry'] & { readonly calls: Pick<CallStore, 'record' | 'isOverloaded'> };
  readonly clock: Clock;
  readonly limits: Pick<
    GatewayLimits,
    | 'statusIntervalSeconds'
    | 'statusFollowUpMs'
    | 'statusCallsMax'
    | 'statusCallsPerSecondMax'
    | 'statusBusyCallsPerSecond'
    | 'statusCallsPerSecondBusyMax'
    | 'statusTimeoutMs'
    | 'reportedStateBytesMax'
  >;
  readonly counters: GatewayCounters;
  /** Without it, no numbers are recorded. */
  readonly measurements?: Pick<MeasurementRecorder, 'take' | 'wants'> | undefined;
}

interface SentLook extends Pick<StatusPlan, 'left'> {
  readonly session: WatchedSession;
  readonly kind: NonNullable<StatusPlan['due']>;
}

/** Part of the name of tools that set something. */
const SETS = '.set_';
/** How often a call after a set is put off before the schedule has to do it. */
const PUT_OFF_MAX = 10;
const WHEEL_STEP_MS = 1_000;

export class StatusWatch {
  readonly #wheel: PollWheel;
  readonly #reports: StateReports;
  readonly #ids = new RecordIds();
  readonly #due = new LookQueue();
  /**
   * Calls after a set, in the order of their times. One timer serves them all: a job over a fleet
   * plans thousands a second. Plans stay in an array: a large Map keeps young objects alive.
   */
  #planned: StatusPlan[] = [];
  readonly #plans = new Map<WatchedSession, StatusPlan>();
  #cancelPlan: (() => void) | undefined;
  #underWay = 0;
  /** Status calls, and calls of other callers, since `at` (ms since the Unix epoch). */
  #second = { at: 0, looks: 0, calls: 0 };
  #looksMax: number;
  #cancelNextSecond: (() => void) | undefined;
  #isStopped = false;
  #cancelStep: () => void = () => undefined;

  constructor(private readonly options: StatusWatchOptions) {
    this.#wheel = new PollWheel(options.limits.statusIntervalSeconds);
    this.#reports = new StateReports(options);
    this.#looksMax = options.limits.statusCallsPerSecondMax;
  }

  start(): void {
    if (this.options.limits.statusIntervalSeconds > 0) this.#step();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelStep();
    this.#cancelNextSecond?.();
    this.#cancelPlan?.();
    this.#planned = [];
    this.#plans.clear();
    this.#due.clear();
  }

  add(session: WatchedSession): void {
    this.#wheel.add(session);
  }

  remove(session: WatchedSession): void {
    this.#wheel.remove(session);
    const plan = this.#plans.get(session);
    if (plan === undefined) return;
    Object.assign(plan, { isPlanned: false, session: undefined });
    this.#plans.delete(session);
  }

  /** Takes the end of a call: stores a reported state, and plans a status call after a set. */
  settled(session: WatchedSession, { tool }: SessionCall, { outcome, settledAt }: SettledCall): void {
    this.#turnSecond();
    this.#second.calls += 1;
    if (outcome.kind === 'SUCCEEDED') this.#measure(session, { tool, result: outcome.result, at: settledAt });
    if (outcome.kind !== 'SUCCEEDED' || session.statusTool === undefined) return;
    if (tool === session.statusTool) void this.#reports.take(session, tool, outcome.result);
    else if (tool.includes(SETS)) this.#planAfterSet(session, PUT_OFF_MAX);
  }

  #measure({ deviceId }: WatchedSession, answer: Parameters<typeof reportAnswer>[2]): void {
    const { measurements } = this.options;
    if (measurements !== undefined) reportAnswer(measurements, deviceId, answer);
  }

  #step(): void {
    this.#cancelStep = this.options.clock.setTimer(WHEEL_STEP_MS, () => this.#step());
    for (const session of this.#wheel.due(this.options.clock.now()))
      if (session.statusTool !== undefined) this.#due.add(this.#planOf(session), 'planned');
    this.#next();
  }

  /** Waits a moment: brightness fades for tenths of a second. [xiaozhi §5.1] */
  #planAfterSet(session: WatchedSession, left: number): void {
    if (this.#isStopped || session.session.state === 'closed') return;
    const plan = this.#planOf(session);
    if (plan.isPlanned) {
      plan.isSetAgain = true;
      return;
    }
    const { clock, limits } = this.options;
    Object.assign(plan, { isPlanned: true, isSetAgain: false, at: clock.now() + limits.statusFollowUpMs, left });
    this.#planned.push(plan);
    this.#waitForPlanned();
  }

  #planOf(session: WatchedSession): StatusPlan {
    const known = this.#plans.get(session);
    if (known !== undefined) return known;
    const plan: StatusPlan = { session, isPlanned: false, isSetAgain: false, at: 0, left: 0, due: undefined };
    this.#plans.set(session, plan);
    return plan;
  }

  #waitForPlanned(): void {
    const { clock } = this.options;
    const [next] = this.#planned;
    if (this.#cancelPlan !== undefined || next === undefined) return;
    this.#cancelPlan = clock.setTimer(Math.max(0, next.at - clock.now()), () => this.#takePlanned());
  }

  #takePlanned(): void {
    const now = this.options.clock.now();
    this.#cancelPlan = undefined;
    // A plan that is further away is from before the clock was set back.
    const latest = now + this.options.limits.statusFollowUpMs;
    const isToCome = this.#planned.findIndex(({ at }) => at > now && at <= latest);
    const taken = this.#planned.splice(0, isToCome === -1 ? this.#planned.length : isToCome);
    for (const plan of taken) this.#takePlan(plan);
    this.#waitForPlanned();
    this.#next();
  }

  #takePlan(plan: StatusPlan): void {
    // The session may have ended meanwhile.
    if (!plan.isPlanned || plan.session === undefined) return;
    plan.isPlanned = false;
    if (plan.isSetAgain) this.#planAfterSet(plan.session, PUT_OFF_MAX);
    else this.#due.add(plan, 'after_set');
  }

  #next(): void {
    while (this.#underWay < this.options.limits.statusCallsMax && this.#due.dropEnded() !== undefined) {
      if (!this.#hasTurn()) return;
      const plan = this.#due.take();
      if (plan !== undefined) this.#look(plan);
    }
  }

  /** Whether another status call is allowed in this second. */
  #hasTurn(): boolean {
    this.#turnSecond();
    this.#second.looks += 1;
    const max = this.#isBusy ? this.options.limits.statusCallsPerSecondBusyMax : this.#looksMax;
    if (this.#second.looks <= max) return true;
    this.#cancelNextSecond ??= this.options.clock.setTimer(1_000, () => {
      this.#cancelNextSecond = undefined;
      this.#next();
    });
    return false;
  }

  get #isBusy(): boolean {
    return this.#second.calls >= this.options.limits.statusBusyCallsPerSecond;
  }

  /** Begins a new second. After one full of calls few status calls are allowed: jobs go first. */
  #turnSecond(): void {
    const { clock, limits } = this.options;
    const now = clock.now();
    if (Math.abs(now - this.#second.at) < 1_000) return;
    this.#looksMax = this.#isBusy ? limits.statusCallsPerSecondBusyMax : limits.statusCallsPerSecondMax;
    this.#second = { at: now, looks: 0, calls: 0 };
  }

  #look(plan: StatusPlan): void {
    const { session, due: kind = 'planned', left } = plan;
    plan.due = undefined;
    const { clock, limits, registry } = this.options;
    const tool = session?.statusTool;
    if (this.#isStopped || session === undefined || tool === undefined || session.session.state === 'closed') return;
    // While calls cannot be recorded, the hub makes no recorded calls.
    if (kind === 'after_set' && registry.calls.isOverloaded) return;
    const startedAt = clock.now();
    const call = { callId: this.#ids.next(startedAt) as CallId, tool, arguments: {}, isBackground: true };
    this.#underWay += 1;
    session.session.enqueue(
      { ...call, queueDeadlineAt: startedAt + limits.statusTimeoutMs, callTimeoutMs: limits.statusTimeoutMs },
      (settled) => {
        this.#underWay -= 1;
        this.#seen({ session, kind, left }, tool, settled, startedAt);
        this.#next();
      },
    );
  }

  #seen({ session, kind, left }: SentLook, tool: string, settled: SettledCall, startedAt: number): void {
    const { outcome } = settled;
    this.options.counters.add(
      'status',
      outcome.kind === 'SUCCEEDED' ? 'answered' : outcome.kind === 'NOT_SENT' ? 'put_off' : 'unanswered',
    );
    if (outcome.kind === 'SUCCEEDED') {
      void this.#reports.take(session, tool, outcome.result);
      this.#measure(session, { tool, result: outcome.result, at: settled.settledAt });
    }
    if (kind === 'planned') return;
    const isBusy = outcome.error?.code === 'OVERLOADED' || outcome.error?.code === 'TIMEOUT';
    // One that gave way to another call is repeated. Only the last try is recorded: the others say
    // nothing about the device, and would count as calls with an unknown outcome.
    if (isBusy && left > 0 && session.session.state !== 'closed') return this.#planAfterSet(session, left - 1);
    if (outcome.kind !== 'NOT_SENT') this.#record(session, tool, settled, startedAt);
  }

  #record(
    { deviceId }: WatchedSession,
    tool: string,
    { callId, outcome, settledAt }: SettledCall,
    startedAt: number,
  ): void {
    const { logger, registry } = this.options;
    registry.calls
      .record({
        id: callId,
        deviceId,
        tool,
        arguments: {},
        outcome,
        startedAt,
        durationMs: settledAt - startedAt,
        actor: 'hub',
      })
      .catch((error: unknown) => logger.warn({ error, callId, deviceId }, 'a call of the hub could not be recorded'));
  }
}
