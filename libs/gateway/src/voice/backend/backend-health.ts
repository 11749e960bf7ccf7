/**
 * Tracks the health of voice servers. Those that failed recently are tried last, so that a
 * conversation does not wait for them.
 */
import type { Clock } from '@flotilla/session';
import type { BackendProblem, BackendUnavailable } from './backend-unavailable.js';

/** The result of the last attempt to open a conversation; `UNTRIED`: there was no attempt. */
type BackendState = 'UNTRIED' | 'WELL' | 'UNWELL';

export interface BackendHealth {
  readonly url: string;
  readonly state: BackendState;
  /** The time of the last change of `state`, ms since the Unix epoch. */
  readonly since: number;
  /** Current conversations. */
  readonly conversations: number;
  /** The last error; kept after the server has recovered. */
  readonly lastError: string | undefined;
  readonly lastErrorCode: BackendProblem | undefined;
}

/** Receives changes. */
export interface BackendWatch {
  /** The health of a server changed. */
  changed(): void;
  /** A server failed for the first time, or recovered, after `forMs` in the former state. */
  turned(health: BackendHealth, forMs: number): void;
}

interface Entry extends BackendHealth {
  readonly restsUntil: number;
}

/** Servers that are remembered: those of all groups and devices of a fleet. */
const BACKENDS_MAX = 1_000;
/** Characters of an error that are kept. */
const ERROR_MAX = 200;

export class BackendHealthTable {
  readonly #entries = new Map<string, Entry>();

  /** `known`: addresses that are listed before the first attempt. */
  constructor(
    private readonly options: {
      readonly clock: Clock;
      readonly restMs: number;
      readonly known: readonly string[];
      readonly watch: BackendWatch;
    },
  ) {
    for (const url of options.known) this.#put(url, {});
  }

  /** Sorts failed servers to the end and otherwise keeps the order. */
  inOrder(urls: readonly string[]): readonly string[] {
    const { clock, restMs } = this.options;
    const now = clock.now();
    const rests = (url: string) => {
      const restsUntil = this.#entries.get(url)?.restsUntil ?? 0;
      // A longer rest means that the clock was set back.
      return restsUntil > now && restsUntil <= now + restMs;
    };
    return [...urls.filter((url) => !rests(url)), ...urls.filter(rests)];
  }

  /** Records that a conversation began. */
  opened(url: string): void {
    this.#turn(url, 'WELL', { restsUntil: 0, conversations: (this.#entries.get(url)?.conversations ?? 0) + 1 });
  }

  /** Records that a conversation ended. */
  ended(url: string): void {
    const entry = this.#entries.get(url);
    if (entry !== undefined && entry.conversations > 0) this.#put(url, { conversations: entry.conversations - 1 });
  }

  /** Records a failure. A device that is not bound there does not affect the server's state. */
  failed(url: string, { message, problem }: BackendUnavailable): void {
    const { clock, restMs } = this.options;
    const error = { lastError: message.slice(0, ERROR_MAX), lastErrorCode: problem };
    if (problem === 'NOT_BOUND') this.#put(url, error);
    else this.#turn(url, 'UNWELL', { restsUntil: clock.now() + restMs, ...error });
  }

  list(): readonly BackendHealth[] {
    return [...this.#entries.values()].map(({ url, state, since, conversations, lastError, lastErrorCode }) => ({
      url,
      state,
      since,
      conversations,
      lastError,
      lastErrorCode,
    }));
  }

  #turn(url: string, state: BackendState, change: Partial<Entry>): void {
    const now = this.options.clock.now();
    const before = this.#entries.get(url);
    if (before?.state === state) return void this.#put(url, change);
    const entry = this.#put(url, { ...change, state, since: now });
    // The first answer of a server is not a change.
    if (state === 'UNWELL' || before?.state === 'UNWELL')
      this.options.watch.turned(entry, now - (before?.since ?? now));
  }

  #put(url: string, change: Partial<Entry>): Entry {
    const fresh = {
      url,
      state: 'UNTRIED',
      since: this.options.clock.now(),
      conversations: 0,
      lastError: undefined,
      lastErrorCode: undefined,
      restsUntil: 0,
    } as const;
    const entry = { ...(this.#entries.get(url) ?? fresh), ...change };
    this.#entries.set(url, entry);
    if (this.#entries.size > BACKENDS_MAX) this.#forgetOne(url);
    this.options.watch.changed();
    return entry;
  }

  /** Forgets the server without conversations whose state is the oldest. */
  #forgetOne(except: string): void {
    const idle = [...this.#entries.values()].filter(({ conversations, url }) => conversations === 0 && url !== except);
    const oldest = idle.reduce<Entry | undefined>(
      (found, one) => (found === undefined || one.since < found.since ? one : found),
      undefined,
    );
    this.#entries.delete(oldest?.url ?? except);
  }
}

/** `host:port` of a voice server for records and metrics: a query may contain secrets. */
export function backendName(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === '' ? (protocol === 'wss:' ? '443' : '80') : port}`;
}
