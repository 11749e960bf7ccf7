/**
 * Ticks: durable wake-ups for workers. A tick carries no data beyond PostgreSQL's, may arrive
 * twice, and may be lost with the queue.
 */
import type { JobId } from '@flotilla/mcp';

export type Tick =
  /** This job has work: prepare, dispatch or finish. */
  | { readonly kind: 'job'; readonly jobId: JobId }
  /** Check all live jobs and expired leases; repeated. */
  | { readonly kind: 'sweep' }
  /** Create partitions for the coming days; repeated. */
  | { readonly kind: 'partitions' }
  /** Delete data past its retention time; repeated. */
  | { readonly kind: 'retention' }
  /** Webhook deliveries are pending. */
  | { readonly kind: 'webhooks' };

export interface TickQueue {
  /** Adds a tick, due after `delayMs` (0). An equal waiting tick is not added twice. */
  add(tick: Tick, delayMs?: number): Promise<void>;
  /** Adds a tick every `everyMs`, once per queue for any number of processes that request it. */
  repeat(tick: Tick, everyMs: number): Promise<void>;
  /**
   * Processes at most `concurrency` ticks at a time in this process. A rejected handler is logged
   * and its tick dropped: the sweep finds its work.
   */
  work(handler: (tick: Tick) => Promise<void>, concurrency: number): Promise<void>;
  /** Leaves all further ticks to other processes. */
  rest(): Promise<void>;
  /** Waiting or delayed ticks, for metrics. */
  depth(): Promise<number>;
}
