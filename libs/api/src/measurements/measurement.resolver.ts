import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { readDeviceSeries, readFirmwareHealth, readFleetSeries } from '@flotilla/fleet';
import type { ChartAnswer, FirmwareHealthRow } from '@flotilla/fleet';
import type { DeviceRow, RecordingRuleRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { parseDeviceFilter } from '../devices/device-filter-input.js';
import { shownDeviceFilter } from '../devices/shown-device-filter.js';
import { ApiError } from '../errors/api-error.js';
import { userErrors } from '../errors/user-errors.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  DeviceMeasurementsArgs,
  DeviceUnexpectedRestartsArgs,
  MutationDeleteRecordingRuleArgs,
  MutationSetRecordingRuleArgs,
  QueryFirmwareHealthArgs,
  QueryFleetMeasurementPathsArgs,
  QueryFleetMeasurementsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

const POINTS_DEFAULT = 200;

/** Charts of the fleet, and the rules that say what is recorded. */
@Resolver('RecordingRule')
export class MeasurementResolver
  implements
    Serves<'Query', 'recordingRules' | 'fleetMeasurements' | 'fleetMeasurementPaths' | 'firmwareHealth'>,
    Serves<'Mutation', 'setRecordingRule' | 'deleteRecordingRule'>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {}

  @Query()
  recordingRules() {
    return this.registry.recordingRules.list();
  }

  @Query()
  async fleetMeasurements(
    _root: unknown,
    { filter, path, since, until, points }: QueryFleetMeasurementsArgs,
    { view }: ApiContext,
  ) {
    const period = { since, until: until ?? undefined, points: points ?? POINTS_DEFAULT, now: Date.now() };
    return { path, points: valueOf(await readFleetSeries(view, { filter: parseDeviceFilter(filter), path }, period)) };
  }

  @Query()
  fleetMeasurementPaths(_root: unknown, { filter }: QueryFleetMeasurementPathsArgs, { view }: ApiContext) {
    return view.measurements.pathsOver(parseDeviceFilter(filter));
  }

  @Query()
  async firmwareHealth(
    _root: unknown,
    { filter, since }: QueryFirmwareHealthArgs,
    { view }: ApiContext,
  ): Promise<readonly FirmwareHealthRow[]> {
    return valueOf(await readFirmwareHealth(view, parseDeviceFilter(filter), { since, now: Date.now() }));
  }

  @Mutation()
  async setRecordingRule(_root: unknown, { input }: MutationSetRecordingRuleArgs, context: ApiContext) {
    const saved = await this.fleet.setRecordingRule(
      {
        id: input.id ?? undefined,
        devices: parseDeviceFilter(input.devices) ?? {},
        path: input.path,
        deadband: input.deadband ?? 0,
        minIntervalSeconds: input.minIntervalSeconds ?? 60,
      },
      actorOf(context),
    );
    return 'refusal' in saved
      ? { userErrors: userErrors(saved.refusal) }
      : { recordingRule: saved.rule, userErrors: [] };
  }

  @Mutation()
  async deleteRecordingRule(_root: unknown, { id }: MutationDeleteRecordingRuleArgs, context: ApiContext) {
    const { refusal } = await this.fleet.deleteRecordingRule(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @ResolveField()
  devices({ devices }: RecordingRuleRow, _args: unknown, context: ApiContext): Promise<unknown> {
    return shownDeviceFilter(devices, context);
  }
}

/** What a device has reported over time. */
@Resolver('Device')
export class DeviceMeasurementResolver implements Serves<
  'Device',
  'measurementPaths' | 'measurements' | 'unexpectedRestarts'
> {
  @ResolveField()
  async measurementPaths({ id }: DeviceRow, _args: unknown, { loaders }: ApiContext) {
    return (await loaders.latestMeasurements.load(id)).map(({ path }) => path);
  }

  @ResolveField()
  async measurements({ id }: DeviceRow, { paths, since, until, points }: DeviceMeasurementsArgs, { view }: ApiContext) {
    const period = { since, until: until ?? undefined, points: points ?? POINTS_DEFAULT, now: Date.now() };
    return valueOf(await readDeviceSeries(view, id, paths, period));
  }

  @ResolveField()
  unexpectedRestarts({ id }: DeviceRow, { since }: DeviceUnexpectedRestartsArgs, { loaders }: ApiContext) {
    return loaders.unexpectedRestarts(id, since);
  }
}

/** A query that asks for what there cannot be is an error of its caller. */
function valueOf<Value>(answer: ChartAnswer<Value>): Value {
  if ('value' in answer) return answer.value;
  throw new ApiError('BAD_USER_INPUT', answer.refusal.message);
}
