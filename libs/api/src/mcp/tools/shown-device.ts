/** A device as agents see it: its own words are in `deviceSays`. */
import type { DeviceRow } from '@flotilla/registry';
import { plainLine } from '../results/untrusted-text.js';

/** An online device counts as seen at `now`, as it does for the filter `lastSeenBefore`. */
export function shownDevice(device: DeviceRow, now = Date.now()) {
  const { id, name, dialect, presence, tags, model, firmwareVersion, connectedAt, lastSeenAt } = device;
  return {
    id,
    name: name && plainLine(name),
    dialect,
    presence,
    tags: tags.map((tag) => plainLine(tag)),
    deviceSays: { model: model && plainLine(model), firmwareVersion: firmwareVersion && plainLine(firmwareVersion) },
    connectedAt: connectedAt && new Date(connectedAt).toISOString(),
    lastSeenAt: presence === 'ONLINE' ? new Date(now).toISOString() : lastSeenAt && new Date(lastSeenAt).toISOString(),
  };
}
