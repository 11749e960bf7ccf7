import type { CallStore } from '../calls/call-store.js';
import type { DeviceFilter } from '../device-filter.js';
import type { DeviceStore } from '../devices/device-store.js';
import type { DeviceGroups as DeviceGroupStore } from '../groups/device-group-store.js';
import type { FleetFiguresStore } from '../devices/fleet-figures.js';
import type { EventStore } from '../events/event-store.js';
import type { DesiredStateReads } from '../desired-states/desired-state-reads.js';
import type { MeasurementStore } from '../measurements/measurement-store.js';
import type { RestartStore } from '../restarts/restart-store.js';
import type { JobReads } from '../jobs/reads/job-reads.js';
import type { RolloutStore } from '../jobs/rollout/rollout-store.js';
import type { ToolSetStore } from '../tool-sets/tool-set-store.js';
import type { UploadStore } from '../uploads/upload-store.js';

export interface Viewer {
  /** `principalRef` of the viewer, who sees the jobs that it created. */
  readonly id: string;
  /** The access scope; undefined for the whole fleet. */
  readonly devices?: DeviceFilter | undefined;
}

/**
 * The part of the fleet that a viewer may see and change. With an access scope it has only devices
 * of the scope with their records, and jobs that the viewer created. [docs/keys.md]
 */
export interface FleetView {
  readonly devices: Pick<
    DeviceStore,
    'find' | 'findMany' | 'idsOf' | 'page' | 'count' | 'sessions' | 'toolSetHistory' | 'update' | 'tag'
  >;
  readonly fleetFigures: Pick<FleetFiguresStore, 'counts' | 'onlineHistory' | 'callCounts'>;
  readonly deviceGroups: Pick<DeviceGroupStore, 'findMany' | 'page' | 'deviceCounts' | 'groupsOf'>;
  readonly toolSets: Pick<ToolSetStore, 'get' | 'getMany' | 'pageOfTools' | 'userOnlyAmong'>;
  readonly events: Pick<EventStore, 'page' | 'pagesOf' | 'cursorOf'> & {
    /**
     * The start of the visible history of each device in the scope, ms since the Unix epoch.
     * Infinity: only new events. Absent for a viewer without a scope.
     */
    readonly startsOf?: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  };
  readonly calls: Pick<CallStore, 'find' | 'page' | 'pagesOf'>;
  readonly jobs: Pick<
    JobReads,
    | 'find'
    | 'page'
    | 'count'
    | 'progress'
    | 'waves'
    | 'waveProgress'
    | 'targets'
    | 'failureCodes'
    | 'failureGroups'
    | 'decidedOverTime'
    | 'haveTargetsOutside'
  >;
  /** Those that the viewer created, and those that cover one of its devices. */
  readonly desiredStates: Pick<
    DesiredStateReads,
    'find' | 'findMany' | 'page' | 'count' | 'summaries' | 'targets' | 'targetsOf' | 'edits' | 'editsPage'
  >;
  readonly measurements: Pick<MeasurementStore, 'latestOf' | 'pathsOver' | 'chartFacts' | 'series' | 'fleetSeries'>;
  readonly restarts: Pick<RestartStore, 'countsOf' | 'versionFigures'>;
  readonly rollouts: Pick<RolloutStore, 'revertGroups'>;
  /** A picture without a device is found by its id, in every scope. */
  readonly uploads: Pick<UploadStore, 'find' | 'page'>;
}
