/**
 * Publishes changes that OTA requests reported. Subscribers see them at once, because a WebSocket
 * board may open no session for days.
 */
import type { EventFeed } from '@flotilla/bus';
import type { CredentialStore } from '@flotilla/registry';
import type { EventLog } from '../sessions/event-log.js';

interface ContactPublishing {
  readonly credentials: Pick<CredentialStore, 'whenNoted'>;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly events: EventLog;
}

/** A later session finds the new version in the device's row and records no second event. */
export function publishContacts({ credentials, events, feed }: ContactPublishing): void {
  credentials.whenNoted((contacts) => {
    for (const { deviceId, formerVersion: from, firmwareVersion: to } of contacts) {
      feed.publish('device', { deviceId });
      if (from !== undefined && to !== undefined && from !== to)
        events.write('firmware.changed', deviceId, { from, to });
    }
  });
}
