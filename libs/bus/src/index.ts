export { BusError } from './bus-error.js';
export type { Bus } from './bus.js';
export { callAttributes, endOf, tracedEnqueue } from './calls/call-tracer.js';
export type { CallSpan, CallSpanName, CallTracer, SpanAttributes } from './calls/call-tracer.js';
export type { CallRights, CallRouter, CallServer, RoutedCall } from './calls/call-router.js';
export type { DirectoryEntry, SessionDirectory } from './directory/directory.js';
export { decidedPerMessageMax } from './feed/feed.js';
export type {
  EventFeed,
  FeedEvent,
  FeedListening,
  FeedTopic,
  FeedTopics,
  SessionLogEntry,
  SessionLogKind,
} from './feed/feed.js';
export { localBus, openLocalBus } from './local-bus.js';
export { openRedisBus } from './redis-bus.js';
export { checkRedis } from './redis/check-redis.js';
export { redisUrlProblem } from './redis/redis-url.js';
export { redisHosts } from './redis/redis-servers.js';
export type { Tick, TickQueue } from './ticks/tick-queue.js';
