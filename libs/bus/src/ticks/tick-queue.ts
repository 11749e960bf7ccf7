/** Ticks: durable wake-ups for workers. A tick carries no data that PostgreSQL does not have, may come twice, and may be lost with the queue. */
import type { JobId } from '@flotilla/mcp';

export type Tick =
  /** Something is to be done for this job: prepare, dispatch, finish. */
  | { readonly kind: 'job'; readonly jobId: JobId }
  /** Look at all live jobs and at expired leases; repeats by itself. */
  | { readonly kind: 'sweep' }
  /** Make partitions for the days to come; repeats by itself. */
  | { readonly kind: 'partitions' }
  /** Remove what is kept for a time only; repeats by itself. */
  | { readonly kind: 'retention' }
  /** Webhooks are owed something. */
  | { readonly kind: 'webhooks' };

export interface TickQueue {
  /** Adds a tick, due after `delayMs` (0). The same job's tick that still waits is not added twice. */
  add(tick: Tick, delayMs?: number): Promise<void>;
  /** Has a tick added by the queue every `everyMs`, once per queue however many processes ask for it. */
  repeat(tick: Tick, everyMs: number): Promise<void>;
  /** Starts working; at most `concurrency` ticks at a time in this process. A rejected handler is logged and the tick is gone: the sweep finds its work again. */
  work(handler: (tick: Tick) => Promise<void>, concurrency: number): Promise<void>;
  /** Ticks waiting or delayed, for metrics. */
  depth(): Promise<number>;
}
