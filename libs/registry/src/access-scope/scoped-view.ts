/**
 * The fleet in the access scope of a viewer: passes each query on to its store, with the scope
 * added.
 */
import type { Job, JobProgress } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import type { Database } from '../database/database.js';
import { timeOfUuid } from '../database/uuid-v7.js';
import { scopedFilter, type DeviceFilter } from '../device-filter.js';
import type { DeviceGroupRow } from '../groups/device-group.js';
import type { DeviceGroups as DeviceGroupStore } from '../groups/device-group-store.js';
import type { DeviceRow } from '../devices/device-rows.js';
import type { DeviceStore } from '../devices/device-store.js';
import type { JobScope } from '../jobs/job-scope.js';
import type { Registry } from '../registry.js';
import type { FleetView } from './fleet-view.js';
import { filterIdsIn, withIdsOf } from './scoped-filter.js';
import { historyStarts } from './history-scope.js';
import { scopedGroups } from './scoped-groups.js';

type Stores = Pick<Registry, keyof FleetView>;

export function scopedView(stores: Stores, database: Database, scope: JobScope): FleetView {
  const { within } = scope;
  const starts = (ids: readonly string[]) => historyStarts(database, within, ids);
  const past = pastOf(starts);
  const devices = devicesWithin(stores.devices, within, past);
  return {
    devices,
    fleetFigures: {
      counts: (filter) => stores.fleetFigures.counts(scopedFilter(filter, within)),
      onlineHistory: (filter, window) =>
        stores.fleetFigures.onlineHistory(scopedFilter(filter, within), window, within),
      callCounts: (filter, since) => stores.fleetFigures.callCounts(scopedFilter(filter, within), since, within),
    },
    deviceGroups: groupsWithin(stores.deviceGroups, database, within, devices),
    toolSets: {
      get: (hash) => stores.toolSets.get(hash),
      getMany: (hashes) => stores.toolSets.getMany(hashes),
      userOnlyAmong: (names) => stores.toolSets.userOnlyAmong(names),
      pageOfTools: (filter, page) =>
        stores.toolSets.pageOfTools(
          { ...filter, devices: scopedFilter(filter?.devices ?? { all: true }, within) },
          page,
        ),
    },
    events: {
      page: (filter, order, page) => stores.events.page({ ...filter, within }, order, page),
      pagesOf: (ids, page) => past(ids, (own, since) => stores.events.pagesOf(own, page, since), emptyPage),
      cursorOf: (event) => stores.events.cursorOf(event),
      startsOf: starts,
    },
    calls: {
      // A call of a job counts with the time of the job, because its arguments are of that time.
      find: async (id) =>
        ofScopedDevice(await stores.calls.find(id), (call) => timeOfUuid(call.jobId ?? call.id), starts),
      page: (filter, page) => stores.calls.page({ ...filter, within }, page),
      pagesOf: (ids, page) => past(ids, (own, since) => stores.calls.pagesOf(own, page, since), emptyPage),
    },
    jobs: jobsWithin(stores.jobs, scope),
    desiredStates: desiredStatesWithin(stores.desiredStates, scope, devices),
    measurements: measurementsWithin(stores.measurements, within, starts),
    restarts: {
      countsOf: async (ids, since) => {
        const own = await starts(ids);
        const from = ids.map((id) => Math.max(since, Math.min(own.get(id) ?? Infinity, latestTime)));
        return stores.restarts.countsOf(ids, since, from);
      },
      versionFigures: (filter, period) => stores.restarts.versionFigures(scopedFilter(filter, within), period, within),
    },
    rollouts: { revertGroups: (jobId) => stores.rollouts.revertGroups(jobId, scope) },
    uploads: {
      find: async (id) => ofScopedDevice(await stores.uploads.find(id), ({ at }) => at, starts),
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
    const { rows } = await store.page(scopedFilter({ ids }, within), 'ID_ASC', { first: new Set(ids).size });
    const byId = new Map<string, DeviceRow>(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  };
  return {
    findMany,
    find: async (id) => (await findMany([id]))[0],
    page: (filter, order, page) => store.page(scopedFilter(filter, within), order, page),
    idsOf: (filter, max) => store.idsOf(scopedFilter(filter, within), max),
    count: (filter) => store.count(scopedFilter(filter, within)),
    sessions: (ids, first) => past(ids, (own, since) => store.sessions(own, first, since), []),
    toolSetHistory: (ids, first) => past(ids, (own, since) => store.toolSetHistory(own, first, since), []),
    // Resolves to the changed device, even if the change took it out of the scope.
    update: async (id, change, by) =>
      (await findMany([id]))[0] === undefined ? undefined : store.update(id, change, by),
    tag: (filter, change, by) => store.tag(scopedFilter(filter, within), change, by),
  };
}

/**
 * Runs `ask` for the devices of the scope. Results are in the order of the input, with `none` for
 * the other devices.
 */
function scopedAmong({ findMany }: Pick<DeviceStore, 'findMany'>) {
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

/**
 * Like `scopedAmong` for records of the past: `since` has the start of the visible history per
 * device.
 */
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

/** The last moment that PostgreSQL and JavaScript both know: no record is later. */
const latestTime = 8.64e15;

function measurementsWithin(
  store: Stores['measurements'],
  within: DeviceFilter,
  starts: Starts,
): FleetView['measurements'] {
  return {
    chartFacts: (path) => store.chartFacts(path),
    latestOf: async (ids) => {
      const [since, latest] = await Promise.all([starts(ids), store.latestOf(ids)]);
      const visible = (id: string) => latest.get(id)?.filter(({ at }) => at >= (since.get(id) ?? Infinity)) ?? [];
      return new Map(ids.map((id) => [id, visible(id)]));
    },
    pathsOver: (filter) => store.pathsOver(scopedFilter(filter, within), within),
    series: async (request) => {
      const start = (await starts([request.deviceId])).get(request.deviceId) ?? Infinity;
      const visibleSince = Math.min(start, request.until);
      const since = Math.max(request.since, visibleSince);
      const series = await store.series({ ...request, since, visibleSince });
      return series.map((one) =>
        (one.latestAt ?? -Infinity) >= start ? one : { ...one, latest: undefined, latestAt: undefined },
      );
    },
    fleetSeries: (request) =>
      store.fleetSeries({ ...request, filter: scopedFilter(request.filter ?? {}, within) }, within),
  };
}

/** Rows without a device are visible in every scope. */
async function ofScopedDevice<Row extends { readonly deviceId: string | undefined }>(
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
  /** Leaves ids of other devices out of the filters of the groups. */
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
      const [groups, visible] = await Promise.all([store.findMany(ids), scopedGroups(database, within)]);
      return shown(groups.map((group) => (group !== undefined && visible.has(group.id) ? group : undefined)));
    },
    page: async (page, { search } = {}) => {
      const ids = [...(await scopedGroups(database, within))];
      const answer = await store.page(page, { ids, ...(search !== undefined && { search }) });
      return { ...answer, rows: await shown(answer.rows) };
    },
    deviceCounts: (groups) => store.deviceCounts(groups, within),
    groupsOf: async (ids) => {
      const own = await scopedAmong(devices)(ids, (scoped) => store.groupsOf(scoped), []);
      return Promise.all(own.map((groups) => shown(groups)));
    },
  };
}

function jobsWithin(store: Registry['jobs'], scope: JobScope): FleetView['jobs'] {
  const { creator } = scope;
  /**
   * The abort rule and the approval of other people's jobs were counted over all targets, so they
   * are hidden.
   */
  const shown = (job: Job): Job =>
    job.createdById === creator
      ? job
      : { ...job, trippedRule: undefined, trippedHealthGate: undefined, approvalTargets: undefined };
  return {
    find: async (id) => {
      const job = await store.find(id, scope);
      return job && shown(job);
    },
    page: async (filter, page) => {
      const answer = await store.page(filter, page, scope);
      return { ...answer, rows: answer.rows.map(shown) };
    },
    count: (filter) => store.count(filter, scope),
    progress: async (ids) => {
      const byWave = await store.waveProgress(ids, scope);
      return new Map(ids.map((id, index) => [id, totalOf([...(byWave[index]?.values() ?? [])])]));
    },
    waves: async (ids) => {
      const [waves, progress] = await Promise.all([store.waves(ids), store.waveProgress(ids, scope)]);
      return waves.map((each, index) =>
        each.map((wave) => ({ ...wave, size: progress[index]?.get(wave.number)?.total ?? 0 })),
      );
    },
    waveProgress: (ids: readonly JobId[]) => store.waveProgress(ids, scope),
    targets: (ids, filter, page) => store.targets(ids, { ...filter, scope }, page),
    failureCodes: (ids) => store.failureCodes(ids, scope),
    failureGroups: (ids, first) => store.failureGroups(ids, first, scope),
    decidedOverTime: (ids, points) => store.decidedOverTime(ids, points, scope),
    haveTargetsOutside: (some) => store.haveTargetsOutside(some, scope),
  };
}

function desiredStatesWithin(
  store: Registry['desiredStates'],
  scope: JobScope,
  devices: Pick<DeviceStore, 'findMany'>,
): FleetView['desiredStates'] {
  return {
    find: (id) => store.find(id, scope),
    findMany: (ids) => store.findMany(ids, scope),
    page: (page) => store.page(page, scope),
    count: () => store.count(scope),
    summaries: (ids) => store.summaries(ids, scope),
    targets: (id, states, page) => store.targets(id, states, page, scope),
    targetsOf: (ids) => scopedAmong(devices)(ids, (own) => store.targetsOf(own), []),
    edits: (id, first) => store.edits(id, first),
    editsPage: (id, page) => store.editsPage(id, page),
  };
}

/** Adds up the progress of the waves of a job. */
function totalOf(waves: readonly JobProgress[]): JobProgress {
  const sum = (member: keyof JobProgress) => waves.reduce((total, wave) => total + wave[member], 0);
  return {
    total: sum('total'),
    pending: sum('pending'),
    waitingDevice: sum('waitingDevice'),
    inFlight: sum('inFlight'),
    verifying: sum('verifying'),
    succeeded: sum('succeeded'),
    noChange: sum('noChange'),
    failed: sum('failed'),
    rejected: sum('rejected'),
    verifyFailed: sum('verifyFailed'),
    unknown: sum('unknown'),
    expired: sum('expired'),
    cancelled: sum('cancelled'),
    skipped: sum('skipped'),
  };
}
