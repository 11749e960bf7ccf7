/** The four parts of the bus that one process opens together, and closes in reverse order. */
import type { CallRouter } from './calls/call-router.js';
import type { SessionDirectory } from './directory/directory.js';
import type { EventFeed } from './feed/feed.js';
import type { TickQueue } from './ticks/tick-queue.js';

export interface Bus {
  readonly directory: SessionDirectory;
  readonly calls: CallRouter;
  readonly feed: EventFeed;
  readonly ticks: TickQueue;
  close(): Promise<void>;
}
