/** Events that the fleet writes: stored for readers, and published to those who listen. */
import type { Bus } from '@flotilla/bus';
import type { DeviceId } from '@flotilla/mcp';
import type { EventType, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

export interface EventDeps {
  readonly registry: Pick<Registry, 'events'>;
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * `data` goes to webhooks and to all who may read events, so it has no secrets. An event without a
 * device is about the fleet: keys that see a part of the fleet do not get it.
 */
export function writeEvent(
  { bus, clock, registry }: EventDeps,
  type: EventType,
  deviceId: DeviceId | undefined,
  data: Readonly<Record<string, unknown>>,
): void {
  bus.feed.publish('event', registry.events.append({ type, deviceId, at: clock.now(), data }));
}
