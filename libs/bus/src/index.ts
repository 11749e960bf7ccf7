export type { Bus } from './bus.js';
export type { CallRouter, CallServer, RoutedCall } from './call-router.js';
export type { DirectoryEntry, SessionDirectory } from './directory.js';
export type { EventFeed, FeedEvent, FeedTopic, FeedTopics } from './feed.js';
export type { Tick, TickQueue } from './tick-queue.js';
