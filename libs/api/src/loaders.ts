/**
 * Look-ups, batched per operation, so that a list costs as many statements as one device.
 * Operations never share them.
 */
import DataLoader from 'dataloader';
import type { DeviceId, JobId, ToolSetHash } from '@flotilla/mcp';
import type { FailureCodeCount, Job, JobProgress, TargetOutcome, ToolPolicy, Wave } from '@flotilla/jobs';
import type {
  AlertRuleRow,
  CallRow,
  DesiredStateEditRow,
  DesiredStateRow,
  DesiredStateSummaryRow,
  DesiredTargetRow,
  ChannelRow,
  DeviceGroupRow,
  DeviceRow,
  DownloadRow,
  DownloadTarget,
  EventRow,
  FirmwareImageRow,
  DecidedPoint,
  FailureGroupRow,
  FleetView,
  LatestPoint,
  Page,
  PageRequest,
  Registry,
  SessionRow,
  TargetRow,
  ToolSet,
  ToolSetUseRow,
  WebhookDeliveryRow,
} from '@flotilla/registry';

/** A wave with the results of its targets so far. */
interface WaveWithProgress {
  readonly wave: Wave;
  readonly progress: JobProgress | undefined;
}

/** The children of one parent. Parents with the same arguments share a statement. */
type Children<Id, Args, Value> = (id: Id, args: Args) => Promise<Value>;

/** Decides which arguments and ids of devices a viewer sees. */
export interface ShownLoaders {
  readonly device: DataLoader<string, DeviceRow | undefined>;
  /** By the name of a tool. */
  readonly isUserOnly: DataLoader<string, boolean>;
}

export interface Loaders extends ShownLoaders {
  readonly firmwareImage: DataLoader<string, FirmwareImageRow | undefined>;
  readonly toolSet: DataLoader<ToolSetHash, ToolSet | undefined>;
  readonly groupSize: DataLoader<DeviceGroupRow, number>;
  readonly deviceGroups: DataLoader<DeviceId, readonly DeviceGroupRow[]>;
  readonly desiredState: DataLoader<string, DesiredStateRow | undefined>;
  /** By the id of the desired state. */
  readonly desiredStateSummary: DataLoader<string, DesiredStateSummaryRow>;
  readonly desiredStatesOf: DataLoader<DeviceId, readonly DesiredTargetRow[]>;
  /** The latest edits; read once per desired state. */
  readonly desiredStateEdits: (id: string) => Promise<readonly DesiredStateEditRow[]>;
  /** By the id of the job. Read once per operation, with a statement for each. */
  readonly rollout: DataLoader<string, Job | undefined>;
  /** By the id of the recurring job. Read once per operation, with a statement for each. */
  readonly lastJob: DataLoader<string, Job | undefined>;
  readonly jobProgress: DataLoader<JobId, JobProgress | undefined>;
  /** Whether steering the job would affect devices beyond those of the viewer. */
  readonly hasTargetsOutside: DataLoader<Job, boolean, JobId>;
  /** All policies: there are few, and matching is by longest prefix. */
  readonly toolPolicies: () => Promise<readonly ToolPolicy[]>;
  readonly sessions: Children<DeviceId, number, readonly SessionRow[]>;
  readonly toolSetHistory: Children<DeviceId, number, readonly ToolSetUseRow[]>;
  readonly deviceEvents: Children<DeviceId, PageRequest, Page<EventRow>>;
  /** The latest point of each path of a device. */
  readonly latestMeasurements: DataLoader<DeviceId, readonly LatestPoint[]>;
  /** Since a time, ms since the Unix epoch. */
  readonly unexpectedRestarts: Children<DeviceId, number, number>;
  readonly deviceCalls: Children<DeviceId, PageRequest, Page<CallRow>>;
  readonly jobTargets: Children<JobId, PageRequest & { readonly outcomes?: readonly TargetOutcome[] }, Page<TargetRow>>;
  /** The newest of each target. */
  readonly downloads: DataLoader<DownloadTarget, DownloadRow | undefined, string>;
  readonly failureCodes: DataLoader<JobId, readonly FailureCodeCount[]>;
  readonly failureGroups: Children<JobId, number, readonly FailureGroupRow[]>;
  readonly decidedOverTime: Children<JobId, number, readonly DecidedPoint[]>;
  readonly jobWaves: DataLoader<JobId, readonly WaveWithProgress[]>;
  readonly webhookPending: DataLoader<string, number>;
  readonly webhookDeliveries: Children<string, number, readonly WebhookDeliveryRow[]>;
  readonly alertRule: DataLoader<string, AlertRuleRow | undefined>;
  readonly alertDevices: Children<string, number, readonly string[]>;
  readonly firingAlerts: DataLoader<string, number>;
  /** All channels: there are few. */
  readonly channels: () => Promise<readonly ChannelRow[]>;
}

/**
 * Look-ups outside the view of the caller; downloads only of targets that were found in the view.
 */
export type FleetWideLookUps = Pick<
  Registry,
  'alertRules' | 'alerts' | 'downloads' | 'firmwareImages' | 'notificationChannels' | 'toolPolicies' | 'webhooks'
>;

/** Edits that a roll-out may have left on devices: older generations are shown without a value. */
const EDITS_MAX = 50;

export function makeShownLoaders({ devices, toolSets }: Pick<FleetView, 'devices' | 'toolSets'>): ShownLoaders {
  return {
    device: new DataLoader((ids) => devices.findMany(ids)),
    isUserOnly: new DataLoader(async (names) => {
      const userOnly = await toolSets.userOnlyAmong(names);
      return names.map((name) => userOnly.has(name));
    }),
  };
}

export function makeLoaders(
  view: FleetView,
  { alertRules, alerts, downloads, firmwareImages, notificationChannels, toolPolicies, webhooks }: FleetWideLookUps,
): Loaders {
  const { desiredStates, devices, deviceGroups, toolSets, events, calls, jobs, measurements, restarts } = view;
  const desiredEdits = new DataLoader((ids: readonly string[]) =>
    Promise.all(ids.map((id) => desiredStates.edits(id, EDITS_MAX))),
  );
  const lastJobOf = async (id: string) => (await jobs.page({ recurringJobId: id }, { first: 1 })).rows[0];
  let policies: Promise<readonly ToolPolicy[]> | undefined;
  let channels: Promise<readonly ChannelRow[]> | undefined;
  return {
    ...makeShownLoaders(view),
    firmwareImage: new DataLoader((ids) => firmwareImages.findMany(ids)),
    toolSet: new DataLoader(async (hashes) => {
      const sets = await toolSets.getMany(hashes);
      return hashes.map((hash) => sets.get(hash));
    }),
    groupSize: new DataLoader((groups) => deviceGroups.deviceCounts(groups)),
    deviceGroups: new DataLoader((ids) => deviceGroups.groupsOf(ids)),
    desiredState: new DataLoader((ids) => desiredStates.findMany(ids)),
    desiredStateSummary: new DataLoader((ids) => desiredStates.summaries(ids)),
    desiredStatesOf: new DataLoader((ids) => desiredStates.targetsOf(ids)),
    desiredStateEdits: (id) => desiredEdits.load(id),
    rollout: new DataLoader((ids) => Promise.all(ids.map((id) => jobs.find(id)))),
    lastJob: new DataLoader((ids) => Promise.all(ids.map(lastJobOf))),
    jobProgress: new DataLoader(async (ids) => {
      const progress = await jobs.progress(ids);
      return ids.map((id) => progress.get(id));
    }),
    hasTargetsOutside: new DataLoader((some) => jobs.haveTargetsOutside(some), { cacheKeyFn: ({ id }) => id }),
    toolPolicies: () => (policies ??= toolPolicies.all()),
    sessions: childrenBy((ids, first) => devices.sessions(ids, first)),
    toolSetHistory: childrenBy((ids, first) => devices.toolSetHistory(ids, first)),
    deviceEvents: childrenBy((ids, page) => events.pagesOf(ids, page)),
    latestMeasurements: new DataLoader(async (ids) => {
      const latest = await measurements.latestOf(ids);
      return ids.map((id) => latest.get(id) ?? []);
    }),
    unexpectedRestarts: childrenBy((ids, since) => restarts.countsOf(ids, since)),
    deviceCalls: childrenBy((ids, page) => calls.pagesOf(ids, page)),
    jobTargets: childrenBy((ids, { outcomes, ...page }) => jobs.targets(ids, outcomes ? { outcomes } : {}, page)),
    jobWaves: new DataLoader(async (ids) => {
      const [waves, progress] = await Promise.all([jobs.waves(ids), jobs.waveProgress(ids)]);
      return waves.map((each, index) => each.map((wave) => ({ wave, progress: progress[index]?.get(wave.number) })));
    }),
    webhookPending: new DataLoader((ids) => webhooks.pendingOf(ids)),
    webhookDeliveries: childrenBy((ids, first) => webhooks.deliveriesOf(ids, first)),
    alertRule: new DataLoader((ids) => alertRules.findMany(ids)),
    alertDevices: childrenBy((ids, first) => alerts.deviceIdsOf(ids, first)),
    firingAlerts: new DataLoader((ids) => alertRules.firingCounts(ids)),
    channels: () => (channels ??= notificationChannels.all()),
    downloads: new DataLoader(async (targets) => newestOf(targets, await downloads.ofTargets(targets)), {
      cacheKeyFn: keyOfTarget,
    }),
    failureCodes: new DataLoader((ids) => jobs.failureCodes(ids)),
    failureGroups: childrenBy((ids, first) => jobs.failureGroups(ids, first)),
    decidedOverTime: childrenBy((ids, points) => jobs.decidedOverTime(ids, points)),
  };
}

function keyOfTarget({ jobId, deviceId }: DownloadTarget): string {
  return `${jobId} ${deviceId}`;
}

/** `rows`: the latest of each target first. */
function newestOf(targets: readonly DownloadTarget[], rows: readonly DownloadRow[]): (DownloadRow | undefined)[] {
  const newest = new Map<string, DownloadRow>();
  for (const row of rows) if (!newest.has(keyOfTarget(row))) newest.set(keyOfTarget(row), row);
  return targets.map((target) => newest.get(keyOfTarget(target)));
}

/** `read` answers for all ids in their order. */
function childrenBy<Id, Args, Value>(
  read: (ids: readonly Id[], args: Args) => Promise<readonly Value[]>,
): Children<Id, Args, Value> {
  const loaders = new Map<string, DataLoader<Id, Value>>();
  return (id, args) => {
    const key = JSON.stringify(args);
    const loader = loaders.get(key) ?? new DataLoader<Id, Value>((ids) => read(ids, args));
    loaders.set(key, loader);
    return loader.load(id);
  };
}
