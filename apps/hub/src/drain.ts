/**
 * The drain of a process after SIGTERM: it counts as not ready, each part finishes its work or
 * hands it over, and the parts are closed after that. Without another process that can take over,
 * only calls in flight delay the stop.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { answerOr } from './answer-or.js';
import type { Role } from './settings/config.js';

export interface PartDrain {
  /** The drain is over after this time, ms. */
  readonly withinMs: number;
  /** Whether another process with this role lives and does not stop. */
  readonly hasSuccessor: () => boolean;
}

interface DrainOptions {
  readonly withinMs: number;
  readonly registry: Pick<Registry, 'successorRoles'>;
  readonly lease: Pick<ProcessLease, 'markStopping'>;
  readonly logger: Logger;
}

interface DrainedPart {
  readonly role: Role;
  readonly drain: (plan: PartDrain) => Promise<void>;
}

/** Interval of the looks for successors, ms: all processes may stop at the same time. */
const LOOK_EVERY_MS = 1_000;

export class Drain {
  readonly #parts: DrainedPart[] = [];
  #isRunning = false;
  /** The roles that other processes can take over. */
  #successors: ReadonlySet<string> = new Set();

  constructor(private readonly options: DrainOptions) {}

  /** From the start of the drain to the end of the process. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  add(role: Role, drain: (plan: PartDrain) => Promise<void>): void {
    this.#parts.push({ role, drain });
  }

  /** Resolves when all parts are done, or the time is over. */
  async run(): Promise<void> {
    const { lease, logger, withinMs } = this.options;
    this.#isRunning = true;
    if (withinMs === 0) return;
    const until = performance.now() + withinMs;
    await answerOr(lease.markStopping(), undefined);
    await this.#look();
    logger.info({ withinMs, successors: [...this.#successors] }, 'draining; a second signal stops at once');
    const ended = new AbortController();
    void this.#lookRepeatedly(ended.signal);
    const leftMs = Math.max(0, until - performance.now());
    const isDone = await Promise.race([
      Promise.all(this.#parts.map((part) => this.#drainPart(part, leftMs))).then(() => true),
      pause(leftMs, false, { signal: ended.signal }),
    ]);
    ended.abort();
    if (!isDone) logger.warn({ withinMs }, 'the drain ran out of time; calls in flight end UNKNOWN');
  }

  async #drainPart({ role, drain }: DrainedPart, withinMs: number): Promise<void> {
    try {
      await drain({ withinMs, hasSuccessor: () => this.#successors.has(role) });
    } catch (err) {
      this.options.logger.error({ err, role }, 'a part could not be drained');
    }
  }

  async #lookRepeatedly(signal: AbortSignal): Promise<void> {
    while (await pause(LOOK_EVERY_MS, true, { signal }).catch(() => false)) await this.#look();
  }

  /** While PostgreSQL is away, the last answer counts. */
  async #look(): Promise<void> {
    this.#successors = await answerOr(this.options.registry.successorRoles(), this.#successors);
  }
}
