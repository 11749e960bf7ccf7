/**
 * Closes the sessions of a gateway that stops: each when its calls have settled, and at a pace, so
 * that the devices do not all return to the other gateways at once. Voice conversations come last.
 */
import type { Clock } from '@flotilla/session';

export interface DrainPlan {
  /** The drain gives up after this time, ms. */
  readonly withinMs: number;
  /**
   * Whether another gateway can take the devices now. Without one there is no pace, and
   * conversations are not awaited: devices return sooner if this process stops sooner.
   */
  readonly hasSuccessor: () => boolean;
}

/** The part of a session that a drain needs. */
export interface DrainedSession {
  /** Calls that wait or are in flight. */
  readonly pendingCalls: number;
  /** The device is in conversation with a voice server. */
  readonly isConversing: boolean;
  /** Ends the session; with `isMoving` the directory keeps it until the next one replaces it. */
  leave(isMoving: boolean): void;
}

interface SessionDrainOptions<Session> extends DrainPlan {
  readonly clock: Clock;
  /** The live sessions, oldest first. */
  readonly sessions: () => Iterable<Session>;
  /** The session accepts no new calls from now on. */
  readonly onLeaving: (session: Session) => void;
}

/** Interval of the steps, ms. */
const STEP_MS = 100;
/** The part of the time in which idle devices are closed; the rest is for calls in flight. */
const PACED_SHARE = 0.75;
/** Slower does not help the other gateways: they greet thousands of devices per second. */
const SESSIONS_PER_STEP_MIN = 5;

export class SessionDrain<Session extends DrainedSession> {
  readonly #leaving = new Set<Session>();
  readonly #startedAt: number;
  readonly #finished: Promise<void>;
  #finish: () => void = () => undefined;
  #cancelStep: () => void = () => undefined;

  /** Starts at once. */
  constructor(private readonly options: SessionDrainOptions<Session>) {
    this.#startedAt = options.clock.now();
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#step();
  }

  /** Resolves when all sessions have ended, the time is over, or the drain was stopped. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  /** Whether the devices can go to another gateway. */
  get hasSuccessor(): boolean {
    return this.options.hasSuccessor();
  }

  /** Whether a call to this session is rejected; true without a session, which has left. */
  refuses(session: Session | undefined): boolean {
    return session === undefined || this.#leaving.has(session);
  }

  /** Leaves the remaining sessions as they are. */
  stop(): void {
    this.#cancelStep();
    this.#finish();
  }

  #step(): void {
    const { clock, hasSuccessor, onLeaving, sessions, withinMs } = this.options;
    const elapsedMs = clock.now() - this.#startedAt;
    const live = [...sessions()];
    const isLive = new Set(live);
    for (const session of this.#leaving) if (!isLive.has(session)) this.#leaving.delete(session);
    if (live.length === 0 || elapsedMs >= withinMs) return this.stop();
    for (const session of this.#due(live, elapsedMs)) {
      this.#leaving.add(session);
      onLeaving(session);
    }
    for (const session of this.#leaving) if (session.pendingCalls === 0) session.leave(hasSuccessor());
    this.#cancelStep = clock.setTimer(STEP_MS, () => this.#step());
  }

  /** The sessions whose turn it is. */
  #due(live: readonly Session[], elapsedMs: number): readonly Session[] {
    const staying = live.filter((session) => !this.#leaving.has(session));
    if (!this.hasSuccessor) return staying;
    const idle = staying.filter((session) => !session.isConversing);
    const stepsLeft = (this.options.withinMs * PACED_SHARE - elapsedMs) / STEP_MS;
    if (stepsLeft <= 1) return idle;
    return idle.slice(0, Math.max(SESSIONS_PER_STEP_MIN, Math.ceil(idle.length / stepsLeft)));
  }
}
