/**
 * Polls microcontrollers for samples, as often as their firmware requests and the budget allows,
 * and probes silent ones. Boards never send unasked [mcpu §2.7]. Only idle boards are polled, once
 * at a time. Polls are not recorded as calls, because a fleet would fill the table.
 */
import { RecordIds } from '@flotilla/registry';
import type { EventType, ToolSet } from '@flotilla/registry';
import type { CallId, CloseReason, DeviceId } from '@flotilla/mcp';
import type { Clock, Session, SettledCall } from '@flotilla/session';
import type { GatewayCounters } from '../gateway-counters.js';
import type { GatewayLimits } from '../gateway-limits.js';
import { reportSamples } from '../measurements/device-reports.js';
import type { MeasurementRecorder } from '../measurements/measurement-recorder.js';
import { perMinute, TokenBucket } from '../overload/token-bucket.js';
import type { BucketRate } from '../overload/token-bucket.js';
import { planPolls } from './poll-plan.js';
import type { PlannedPoll } from './poll-plan.js';
import { SampleEvents } from './sample-events.js';

/** The part of a live session that polls need. */
interface SampledSession {
  readonly deviceId: DeviceId;
  readonly session: Session;
  readonly toolSet: ToolSet | undefined;
  readonly record: { event(type: EventType, data: Readonly<Record<string, unknown>>): void };
  close(reason: CloseReason): void;
}

export interface SampleWatchOptions {
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly counters: GatewayCounters;
  /** Without it, no numbers are recorded. */
  readonly measurements?: Pick<MeasurementRecorder, 'take' | 'wants'> | undefined;
}

/** The state of one microcontroller. Times are ms since the Unix epoch. */
interface Watched {
  readonly samples: SampleEvents;
  /** The source of `polls`. */
  toolSet: ToolSet | undefined;
  polls: readonly { readonly poll: PlannedPoll; nextAt: number }[];
  isAsked: boolean;
  heardAt: number;
  misses: number;
  readonly events: TokenBucket;
}

/** A probe that every board answers and that changes nothing. */
const probe: PlannedPoll = { tool: 'get_info', arguments: {}, everyMs: 0, pin: undefined };

export class SampleWatch {
  readonly #watched = new Map<SampledSession, Watched>();
  readonly #ids = new RecordIds();
  readonly #eventRate: BucketRate;
  #underWay = 0;
  #cancelStep: () => void = () => undefined;

  constructor(private readonly options: SampleWatchOptions) {
    this.#eventRate = perMinute(options.limits.sampleEventsPerMinuteMax);
  }

  start(): void {
    this.#cancelStep = this.options.clock.setTimer(this.options.limits.pollStepMs, () => {
      this.#step();
      this.start();
    });
  }

  stop(): void {
    this.#cancelStep();
    this.#watched.clear();
  }

  add(session: SampledSession): void {
    const now = this.options.clock.now();
    const samples = new SampleEvents(this.options.limits);
    this.#watched.set(session, {
      samples,
      toolSet: undefined,
      polls: [],
      isAsked: false,
      heardAt: now,
      misses: 0,
      events: new TokenBucket(this.#eventRate, now),
    });
  }

  remove(session: SampledSession): void {
    this.#watched.delete(session);
  }

  /** Records that a call ended: any answer shows that the device is alive. */
  settled(session: SampledSession, { outcome, settledAt }: SettledCall): void {
    const watched = this.#watched.get(session);
    if (watched === undefined || (outcome.kind !== 'SUCCEEDED' && outcome.kind !== 'FAILED')) return;
    watched.heardAt = settledAt;
    watched.misses = 0;
  }

  /** Polled boards move to the end, so that all share an insufficient budget. */
  #step(): void {
    const now = this.options.clock.now();
    for (const [session, watched] of [...this.#watched]) {
      if (this.#underWay >= this.options.limits.pollCallsMax) return;
      if (watched.isAsked || session.session.state !== 'ready') continue;
      const due = this.#dueOf(session, watched, now);
      if (due === undefined) continue;
      if (session.session.pendingCalls > 0) {
        this.#putOff(watched, due);
        continue;
      }
      this.#watched.delete(session);
      this.#watched.set(session, watched);
      this.#ask(session, watched, due);
    }
  }

  #dueOf(session: SampledSession, watched: Watched, now: number): PlannedPoll | undefined {
    const { limits } = this.options;
    // It is later than now if the clock was set back.
    watched.heardAt = Math.min(watched.heardAt, now);
    if (now - watched.heardAt >= limits.idleProbeMs) return probe;
    if (watched.toolSet !== session.toolSet) {
      watched.toolSet = session.toolSet;
      const polls = session.toolSet === undefined ? [] : planPolls(session.toolSet, limits);
      watched.polls = polls.map((poll) => ({ poll, nextAt: now + poll.everyMs }));
    }
    for (const each of watched.polls) each.nextAt = Math.min(each.nextAt, now + each.poll.everyMs);
    const due = watched.polls.filter(({ nextAt }) => nextAt <= now).sort((one, other) => one.nextAt - other.nextAt)[0];
    if (due === undefined) return undefined;
    due.nextAt = Math.max(now, due.nextAt + due.poll.everyMs);
    return due.poll;
  }

  #ask(session: SampledSession, watched: Watched, poll: PlannedPoll): void {
    const { clock, limits } = this.options;
    const startedAt = clock.now();
    const deadlines = { queueDeadlineAt: startedAt + limits.pollTimeoutMs, callTimeoutMs: limits.pollTimeoutMs };
    const call = {
      callId: this.#ids.next(startedAt) as CallId,
      tool: poll.tool,
      arguments: poll.arguments,
      isBackground: true,
    };
    watched.isAsked = true;
    this.#underWay += 1;
    session.session.enqueue({ ...call, ...deadlines }, (settled) => {
      watched.isAsked = false;
      this.#underWay -= 1;
      this.#answered(session, watched, { poll, settled, startedAt });
    });
  }

  #answered(
    session: SampledSession,
    watched: Watched,
    {
      poll,
      settled,
      startedAt,
    }: { readonly poll: PlannedPoll; readonly settled: SettledCall; readonly startedAt: number },
  ): void {
    if (!this.#watched.has(session)) return;
    const { counters, limits } = this.options;
    const { outcome } = settled;
    this.settled(session, settled);
    if (outcome.kind === 'NOT_SENT')
      return outcome.error?.code === 'OVERLOADED' ? this.#putOff(watched, poll) : counters.add('poll', 'put_off');
    counters.add('poll', outcome.kind === 'UNKNOWN' ? 'unanswered' : 'answered');
    if (outcome.kind === 'UNKNOWN' && poll === probe && (watched.misses += 1) >= limits.idleMissesMax)
      session.close('unresponsive');
    if (poll === probe || outcome.kind !== 'SUCCEEDED') return;
    const data = watched.samples.read(poll, outcome.result, startedAt);
    if (data !== undefined && this.options.measurements !== undefined)
      reportSamples(this.options.measurements, session.deviceId, data, settled.settledAt);
    if (data === undefined) return;
    if (!this.#mayReport(watched, poll, settled.settledAt)) return counters.add('anomaly', 'samples_dropped');
    watched.events.take(1);
    session.record.event('device.samples', data);
  }

  /** Rings may overdraw the events of a minute, which other values would use up. */
  #mayReport({ events }: Watched, { pin }: PlannedPoll, now: number): boolean {
    const left = events.refill(this.#eventRate, now);
    return pin === undefined ? left >= 1 : left > -this.#eventRate.burst;
  }

  /** The board is busy. A ring that is read a whole period later has lost samples. */
  #putOff(watched: Watched, poll: PlannedPoll): void {
    this.options.counters.add('poll', 'put_off');
    const planned = watched.polls.find((each) => each.poll === poll);
    if (planned !== undefined) planned.nextAt = this.options.clock.now();
  }
}
