/** The fleet as a narrowed viewer sees it: each question to a store, with what narrows the viewer added. */
import type { Job, JobProgress } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import { timeOfUuid } from '../database/uuid-v7.js';
import { narrowed, type DeviceFilter } from '../device-filter.js';
import type { DeviceGroupRow } from '../groups/device-group.js';
import type { DeviceGroups as DeviceGroupStore } from '../groups/device-group-store.js';
import type { DeviceRow, DeviceStore } from '../devices/device-types.js';
import type { JobSight } from '../jobs/job-types.js';
import type { Registry } from '../registry.js';
import type { FleetView } from './fleet-view.js';
import { filterIdsIn, withIdsOf } from './scoped-filter.js';
import { historyStarts } from './history-scope.js';
import { seenGroups } from './scoped-groups.js';

type Stores = Pick<Registry, keyof FleetView>;

export function narrowedView(stores: Stores, database: Database, sight: JobSight): FleetView {
  const { within } = sight;
  const starts = (ids: readonly string[]) => historyStarts(database, within, ids);
  const past = pastOf(starts);
  const devices = devicesWithin(stores.devices, within, past);
  return {
    devices,
    fleetFigures: {
      counts: (filter) => stores.fleetFigures.counts(narrowed(filter, within)),
      onlineHistory: (filter, window) => stores.fleetFigures.onlineHistory(narrowed(filter, within), window, within),
      callCounts: (filter, since) => stores.fleetFigures.callCounts(narrowed(filter, within), since, within),
    },
    deviceGroups: groupsWithin(stores.deviceGroups, database, within, devices),
    toolSets: {
      get: (hash) => stores.toolSets.get(hash),
      getMany: (hashes) => stores.toolSets.getMany(hashes),
      userOnlyAmong: (names) => stores.toolSets.userOnlyAmong(names),
      fleetTools: (filter, page) =>
        stores.toolSets.fleetTools({ ...filter, devices: narrowed(filter?.devices ?? { all: true }, within) }, page),
    },
    events: {
      page: (filter, order, page) => stores.events.page({ ...filter, within }, order, page),
      pagesOf: (ids, page) => past(ids, (own, since) => stores.events.pagesOf(own, page, since), emptyPage),
      cursorOf: (event) => stores.events.cursorOf(event),
      startsOf: starts,
    },
    calls: {
      // That of a job is as old as the job: its arguments are.
      find: async (id) =>
        ofSeenDevice(await stores.calls.find(id), (call) => timeOfUuid(call.jobId ?? call.id), starts),
      page: (filter, page) => stores.calls.page({ ...filter, within }, page),
      pagesOf: (ids, page) => past(ids, (own, since) => stores.calls.pagesOf(own, page, since), emptyPage),
    },
    jobs: jobsWithin(stores.jobs, sight),
    rollouts: { revertGroups: (jobId) => stores.rollouts.revertGroups(jobId, sight) },
    uploads: {
      find: async (id) => ofSeenDevice(await stores.uploads.find(id), ({ at }) => at, starts),
      page: (filter, page) => stores.uploads.page({ ...filter, within }, page),
    },
  };
}

const emptyPage = { rows: [], cursors: [], hasNextPage: false };

function devicesWithin(
  store: DeviceStore,
  within: DeviceFilter,
  past: ReturnType<typeof pastOf>,
): FleetView['devices'] {
  const findMany = async (ids: readonly string[]): Promise<readonly (DeviceRow | undefined)[]> => {
    if (ids.length === 0) return [];
    const { rows } = await store.page(narrowed({ ids }, within), 'ID_ASC', { first: new Set(ids).size });
    const byId = new Map<string, DeviceRow>(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  };
  return {
    findMany,
    find: async (id) => (await findMany([id]))[0],
    page: (filter, order, page) => store.page(narrowed(filter, within), order, page),
    count: (filter) => store.count(narrowed(filter, within)),
    sessions: (ids, first) => past(ids, (own, since) => store.sessions(own, first, since), []),
    toolSetHistory: (ids, first) => past(ids, (own, since) => store.toolSetHistory(own, first, since), []),
    // As it is after the change, also where it has left the view by it.
    update: async (id, change, by) =>
      (await findMany([id]))[0] === undefined ? undefined : store.update(id, change, by),
    tag: (filter, change, by) => store.tag(narrowed(filter, within), change, by),
  };
}

/** Asks for those among the devices that are seen; in the order of the input, with `none` for the others. */
function seenAmong({ findMany }: Pick<DeviceStore, 'findMany'>) {
  return async <Value>(
    ids: readonly string[],
    ask: (own: readonly DeviceId[]) => Promise<readonly Value[]>,
    none: Value,
  ): Promise<readonly Value[]> => {
    const own = (await findMany(ids)).flatMap((device) => device?.id ?? []);
    const values = own.length === 0 ? [] : await ask(own);
    const byId = new Map<string, Value>(own.map((id, index) => [id, values[index] ?? none]));
    return ids.map((id) => byId.get(id) ?? none);
  };
}

type Starts = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** The same for what devices have done: each is asked about from when on its history is seen. */
function pastOf(starts: Starts) {
  return async <Value>(
    ids: readonly string[],
    ask: (own: readonly DeviceId[], since: readonly number[]) => Promise<readonly Value[]>,
    none: Value,
  ): Promise<readonly Value[]> => {
    const since = await starts(ids);
    const own = [...new Set(ids)].filter((id): id is DeviceId => (since.get(id) ?? Infinity) < Infinity);
    const from = own.map((id) => since.get(id) ?? Infinity);
    const values = own.length === 0 ? [] : await ask(own, from);
    const byId = new Map<string, Value>(own.map((id, index) => [id, values[index] ?? none]));
    return ids.map((id) => byId.get(id) ?? none);
  };
}

/** A row of no device is found by its id. */
async function ofSeenDevice<Row extends { readonly deviceId: string | undefined }>(
  row: Row | undefined,
  timeOf: (row: Row) => number,
  starts: Starts,
): Promise<Row | undefined> {
  if (row?.deviceId === undefined) return row;
  const since = (await starts([row.deviceId])).get(row.deviceId) ?? Infinity;
  return timeOf(row) >= since ? row : undefined;
}

function groupsWithin(
  store: DeviceGroupStore,
  database: Database,
  within: DeviceFilter,
  devices: Pick<DeviceStore, 'findMany'>,
): FleetView['deviceGroups'] {
  /** A filter may list ids: those of others are left out of what is shown. */
  const shown = async <Group extends DeviceGroupRow | undefined>(
    groups: readonly Group[],
  ): Promise<readonly Group[]> => {
    const ids = [...new Set(groups.flatMap((group) => (group === undefined ? [] : filterIdsIn(group.filter))))];
    if (ids.length === 0) return groups;
    const own = new Set<string>((await devices.findMany(ids)).flatMap((device) => device?.id ?? []));
    return groups.map((group) => (group === undefined ? group : { ...group, filter: withIdsOf(group.filter, own) }));
  };
  return {
    findMany: async (ids) => {
      const [groups, seen] = await Promise.all([store.findMany(ids), seenGroups(database, within)]);
      return shown(groups.map((group) => (group !== undefined && seen.has(group.id) ? group : undefined)));
    },
    page: async (page) => {
      const answer = await store.page(page, [...(await seenGroups(database, within))]);
      return { ...answer, rows: await shown(answer.rows) };
    },
    deviceCounts: (groups) => store.deviceCounts(groups, within),
    groupsOf: async (ids) => {
      const own = await seenAmong(devices)(ids, (seen) => store.groupsOf(seen), []);
      return Promise.all(own.map((groups) => shown(groups)));
    },
  };
}

function jobsWithin(store: Registry['jobs'], sight: JobSight): FleetView['jobs'] {
  const { creator } = sight;
  /** What stopped a job of others, and what its approval covers, was counted over all of its targets. */
  const shown = (job: Job): Job =>
    job.createdById === creator ? job : { ...job, trippedRule: undefined, approvalTargets: undefined };
  return {
    find: async (id) => {
      const job = await store.find(id, sight);
      return job && shown(job);
    },
    page: async (filter, page) => {
      const answer = await store.page(filter, page, sight);
      return { ...answer, rows: answer.rows.map(shown) };
    },
    progress: async (ids) => {
      const byWave = await store.waveProgress(ids, sight);
      return new Map(ids.map((id, index) => [id, totalOf([...(byWave[index]?.values() ?? [])])]));
    },
    waves: async (ids) => {
      const [waves, progress] = await Promise.all([store.waves(ids), store.waveProgress(ids, sight)]);
      return waves.map((each, index) =>
        each.map((wave) => ({ ...wave, size: progress[index]?.get(wave.number)?.total ?? 0 })),
      );
    },
    waveProgress: (ids: readonly JobId[]) => store.waveProgress(ids, sight),
    targets: (ids, filter, page) => store.targets(ids, { ...filter, sight }, page),
    failureGroups: (ids, first) => store.failureGroups(ids, first, sight),
    decidedOverTime: (ids, points) => store.decidedOverTime(ids, points, sight),
    hasTargetsBeyond: (job) => store.hasTargetsBeyond(job, sight),
  };
}

/** The progress of a job out of that of its waves. */
function totalOf(waves: readonly JobProgress[]): JobProgress {
  const sum = (member: keyof JobProgress) => waves.reduce((total, wave) => total + wave[member], 0);
  return {
    ...{ total: sum('total'), pending: sum('pending'), waitingDevice: sum('waitingDevice') },
    ...{ inFlight: sum('inFlight'), verifying: sum('verifying') },
    ...{ succeeded: sum('succeeded'), noChange: sum('noChange'), failed: sum('failed'), rejected: sum('rejected') },
    ...{ verifyFailed: sum('verifyFailed'), unknown: sum('unknown'), expired: sum('expired') },
    ...{ cancelled: sum('cancelled'), skipped: sum('skipped') },
  };
}
