/** The four parts of the bus that one process opens together, and closes in reverse order. */
import type { CallRouter } from './call-router.js';
import type { SessionDirectory } from './directory.js';
import type { EventFeed } from './feed.js';
import type { TickQueue } from './tick-queue.js';

export interface Bus {
  readonly directory: SessionDirectory;
  readonly calls: CallRouter;
  readonly feed: EventFeed;
  readonly ticks: TickQueue;
  close(): Promise<void>;
}
