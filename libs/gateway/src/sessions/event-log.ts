/** Writes events of the gateway and publishes them on the feed. */
import type { EventFeed } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { EventStore, EventType } from '@flotilla/registry';

interface EventLogOptions {
  readonly events: Pick<EventStore, 'append'>;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly clock: { now(): number };
}

export class EventLog {
  constructor(private readonly options: EventLogOptions) {}

  write(type: EventType, deviceId: DeviceId | undefined, data: Readonly<Record<string, unknown>>): void {
    const { clock, events, feed } = this.options;
    feed.publish('event', events.append({ type, deviceId, at: clock.now(), data }));
  }
}
