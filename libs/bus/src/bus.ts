/** The four parts of the bus, which one process opens together and closes in reverse order. */
import type { CallRouter } from './calls/call-router.js';
import type { SessionDirectory } from './directory/directory.js';
import type { EventFeed } from './feed/feed.js';
import type { TickQueue } from './ticks/tick-queue.js';

/** Dropped messages without a valid signature of this hub since the start, by reason. */
type RefusedCounts = ReadonlyMap<string, number>;

export interface Bus {
  readonly directory: SessionDirectory;
  readonly calls: CallRouter;
  readonly feed: EventFeed;
  readonly ticks: TickQueue;
  /** Whether other processes can be reached now. Always true within one process. */
  readonly isReachable: boolean;
  readonly refused: RefusedCounts;
  close(): Promise<void>;
}
