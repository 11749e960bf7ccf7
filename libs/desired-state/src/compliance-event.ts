import type { Entry } from './entry.js';

/** What a change of an entry is for people: a device drifted, or is in sync again after that. */
export function complianceEventOf(
  former: Entry | undefined,
  entry: Entry,
): 'device.drifted' | 'device.in_sync' | undefined {
  if (former?.state === entry.state) return undefined;
  const wasInSync = former?.state === 'IN_SYNC' && former.syncedGeneration === entry.observedGeneration;
  if (entry.state === 'DRIFTED' || entry.state === 'HELD')
    return former?.state === 'DRIFTED' || former?.state === 'HELD' ? undefined : 'device.drifted';
  if (entry.state === 'APPLYING') return wasInSync ? 'device.drifted' : undefined;
  if (entry.state !== 'IN_SYNC' || former === undefined) return undefined;
  const isBack = former.syncedGeneration === entry.observedGeneration && former.syncedGeneration > 0;
  return isBack || former.state === 'FAILED' || former.state === 'DRIFTED' ? 'device.in_sync' : undefined;
}
