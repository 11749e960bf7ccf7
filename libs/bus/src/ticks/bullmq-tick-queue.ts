/**
 * Ticks on BullMQ, over PostgreSQL or Redis: the same code with another backend. The queue never
 * retries an item, because the sweep finds lost work.
 */
import { Queue, Worker } from 'bullmq';
import type { BackendFactory, IQueueBackend, Job as QueueItem } from 'bullmq';
import { BusError } from '../bus-error.js';
import type { BusLogger } from '../bus-logger.js';
import { reasonOf, withoutCommand } from '../redis/redis-errors.js';
import { parseTick } from './tick-parser.js';
import type { Tick, TickQueue } from './tick-queue.js';

const QUEUE_NAME = 'flotilla-ticks';

/** The backend of a queue. The worker's connection blocks, so the queue has another one. */
interface TickBackend<Connection> {
  readonly queueConnection: Connection;
  readonly workerConnection: Connection;
  readonly factory: BackendFactory<IQueueBackend, Connection>;
  /** Namespace of the keys, on Redis only. */
  readonly prefix?: string;
}

/**
 * BullMQ renews the locks of its items until the last handler has ended, with a timer that keeps
 * the process alive.
 */
class StoppableWorker<Connection> extends Worker<unknown, void, string, IQueueBackend, object, Connection> {
  stopRenewing(): Promise<void> {
    return this.lockManager.close();
  }
}

export class BullmqTickQueue<Connection> implements TickQueue {
  readonly #backend: TickBackend<Connection>;
  readonly #logger: BusLogger;
  readonly #queue;
  readonly #repeats = new Map<string, { readonly tick: Tick; readonly everyMs: number }>();
  #worker: StoppableWorker<Connection> | undefined;
  #restoreTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(backend: TickBackend<Connection>, logger: BusLogger) {
    this.#backend = backend;
    this.#logger = logger;
    this.#queue = new Queue<unknown, void, string, unknown, void, string, IQueueBackend, Connection>(
      QUEUE_NAME,
      {
        connection: backend.queueConnection,
        ...(backend.prefix === undefined ? {} : { prefix: backend.prefix }),
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      },
      backend.factory,
    );
    this.#queue.on('error', (error) =>
      this.#logger.warn({ err: withoutCommand(error) }, 'tick queue lost its connection'),
    );
  }

  /** Resolves when the backend accepts ticks; its tables exist by then. */
  async ready(): Promise<void> {
    await attempt('reach the tick queue', () => this.#queue.waitUntilReady());
  }

  async add(tick: Tick, delayMs = 0): Promise<void> {
    // keepLastIfActive repeats a tick that is added while an equal one is processed. An immediate
    // tick replaces a delayed one.
    const deduplication = { id: tickKey(tick), keepLastIfActive: true, reschedule: delayMs === 0 };
    await attempt('add a tick', () => this.#queue.add(tick.kind, tick, { delay: delayMs, deduplication }));
  }

  async repeat(tick: Tick, everyMs: number): Promise<void> {
    this.#repeats.set(tickKey(tick), { tick, everyMs });
    await this.#schedule(tick, everyMs);
  }

  /** Adds the schedules of this process again, with retries. Existing ones are unchanged. */
  async restoreRepeats(): Promise<void> {
    clearTimeout(this.#restoreTimer);
    if (this.#isClosed) return;
    try {
      for (const { tick, everyMs } of this.#repeats.values()) await this.#schedule(tick, everyMs);
    } catch (error) {
      this.#logger.warn({ err: withoutCommand(error) }, 'could not add the schedules of ticks; retrying');
      this.#restoreTimer = setTimeout(() => void this.restoreRepeats(), RESTORE_AGAIN_MS).unref();
    }
  }

  async #schedule(tick: Tick, everyMs: number): Promise<void> {
    await attempt('repeat a tick', () =>
      this.#queue.upsertJobScheduler(`every-${tickKey(tick)}`, { every: everyMs }, { name: tick.kind, data: tick }),
    );
  }

  async work(handler: (tick: Tick) => Promise<void>, concurrency: number): Promise<void> {
    const worker = new StoppableWorker<Connection>(
      QUEUE_NAME,
      (item: QueueItem<unknown, void>) => handler(parseTick(item.data)),
      {
        connection: this.#backend.workerConnection,
        concurrency,
        ...(this.#backend.prefix === undefined ? {} : { prefix: this.#backend.prefix }),
      },
      this.#backend.factory,
    );
    worker.on('error', (error) => this.#logger.warn({ err: withoutCommand(error) }, 'tick worker lost its connection'));
    worker.on('failed', (item, error) =>
      this.#logger.error({ err: error, tick: item?.data }, 'a tick failed; the sweep will find its work'),
    );
    this.#worker = worker;
    await attempt('work ticks', () => worker.waitUntilReady());
  }

  /** Also ends the blocking wait on Redis, which would take one more wake-up from other workers. */
  async rest(): Promise<void> {
    if (this.#worker !== undefined) await isDoneInTime(this.#worker.pause());
  }

  async depth(): Promise<number> {
    const counts = await attempt('count ticks', () => this.#queue.getJobCounts('waiting', 'delayed', 'prioritized'));
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  }

  /**
   * Waits for the ticks in progress, then closes. An unreachable backend must not delay the stop of
   * the process.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restoreTimer);
    // Also stops BullMQ's check for stalled items, whose timer would survive a slow close.
    await this.#worker?.pause(true);
    for (const closable of [this.#worker, this.#queue]) {
      if (closable === undefined) continue;
      if (!(await isDoneInTime(closable.close())))
        this.#logger.warn({}, 'the tick queue did not close in time: cutting its connections');
      // A connection that is about to reconnect survives BullMQ's close and would keep the process
      // alive.
      await isDoneInTime(closable.disconnect());
    }
    // A worker that was cut off waits for its handlers forever.
    await this.#worker?.stopRenewing();
  }
}

/**
 * Long enough for a tick's handler, which only starts work, and less than the ten seconds after
 * which most supervisors kill.
 */
const CLOSE_LIMIT_MS = 2_000;

/** Whether it settled, within the time that a stop has for it. */
export function isDoneInTime(act: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, CLOSE_LIMIT_MS, false);
    const settle = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    act.then(settle, settle);
  });
}

/** The queue's connection may become ready a moment after others. */
const RESTORE_AGAIN_MS = 1_000;

/** Ticks with the same key are the same work. */
function tickKey(tick: Tick): string {
  return tick.kind === 'job' ? `job-${tick.jobId}` : tick.kind;
}

async function attempt<Result>(what: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (cause) {
    throw new BusError('BUS_UNAVAILABLE', `Could not ${what}: ${reasonOf(cause)}`, { cause: withoutCommand(cause) });
  }
}
