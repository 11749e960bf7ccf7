import type { DeviceFilter } from '../device-filter.js';
import type { DeviceGroups as DeviceGroupStore } from '../groups/device-group-store.js';
import type { FleetFiguresStore } from '../devices/fleet-figures.js';
import type { DeviceStore, ToolSetStore } from '../devices/device-types.js';
import type { JobStore } from '../jobs/job-types.js';
import type { CallStore, EventStore } from '../calls/record-types.js';
import type { RolloutStore } from '../jobs/rollout/rollout-types.js';
import type { UploadStore } from '../uploads/upload-types.js';

/** Who looks. */
export interface Viewer {
  /** Kind and id (`principalRef`): what they made they see. */
  readonly id: string;
  /** What narrows them; undefined: nothing does. */
  readonly devices?: DeviceFilter | undefined;
}

/**
 * What somebody sees of the fleet, and may touch: whatever shows a device, or belongs to one, is asked for here. For a narrowed viewer there is nothing
 * else: other devices are not found, not counted and not changed, with their calls, events and pictures; groups are those that have one of theirs; jobs
 * are those that have one of theirs or that they made, with their own targets only. What is about no device (events of the hub) is not theirs, nor is what
 * happened before a device came into the view.
 */
export interface FleetView {
  readonly devices: Pick<
    DeviceStore,
    'find' | 'findMany' | 'page' | 'count' | 'sessions' | 'toolSetHistory' | 'update' | 'tag'
  >;
  readonly fleetFigures: Pick<FleetFiguresStore, 'counts' | 'onlineHistory' | 'callCounts'>;
  readonly deviceGroups: Pick<DeviceGroupStore, 'findMany' | 'page' | 'deviceCounts' | 'groupsOf'>;
  readonly toolSets: Pick<ToolSetStore, 'get' | 'getMany' | 'fleetTools' | 'userOnlyAmong'>;
  readonly events: Pick<EventStore, 'page' | 'pagesOf' | 'cursorOf'> & {
    /**
     * For those of the devices that a narrowed viewer sees: from when on it sees their history, ms since the Unix epoch. Infinity: only what happens while it
     * looks. Undefined for a viewer that is not narrowed.
     */
    readonly startsOf?: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  };
  readonly calls: Pick<CallStore, 'find' | 'page' | 'pagesOf'>;
  readonly jobs: Pick<
    JobStore,
    | 'find'
    | 'page'
    | 'progress'
    | 'waves'
    | 'waveProgress'
    | 'targets'
    | 'failureGroups'
    | 'decidedOverTime'
    | 'hasTargetsBeyond'
  >;
  readonly rollouts: Pick<RolloutStore, 'revertGroups'>;
  /** A picture of no device is found by whoever was told its id. */
  readonly uploads: Pick<UploadStore, 'find' | 'page'>;
}
