import { Inject } from '@nestjs/common';
import { Resolver, Subscription } from '@nestjs/graphql';
import type { EventFeed } from '@flotilla/bus';
import type { Job } from '@flotilla/jobs';
import type { AlertRow, DesiredStateRow, DeviceRow } from '@flotilla/registry';
import { alertFilterOf } from '../alerts/alert.resolver.js';
import { actorOf, type ApiContext } from '../api-context.js';
import { FEED, FLEET, LIMITS, LOGGER, REGISTRY, type FleetWideStores } from '../api-deps.js';
import type { ApiLogger } from '../api-logger.js';
import { ApiError } from '../errors/api-error.js';
import { parseDeviceFilter } from '../devices/device-filter-input.js';
import { parseEventFilter } from '../events/event-filter-input.js';
import type {
  SubscriptionDesiredStateChangedArgs,
  SubscriptionAlertChangedArgs,
  SubscriptionDeviceChangedArgs,
  SubscriptionDeviceListChangedArgs,
  SubscriptionEventAddedArgs,
  SubscriptionJobProgressArgs,
  SubscriptionJobTargetsDecidedArgs,
  SubscriptionSessionLogArgs,
} from '../generated/schema-types.js';
import type { FleetOperations } from '../fleet-operations.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { alertChanges } from './streams/alert-changes.js';
import { deviceChanges, type StreamSources } from './streams/device-changes.js';
import { deviceListChanges, type DeviceListChange } from './streams/device-list-changes.js';
import { eventAdditions, type EventAddition, type EventBatch } from './streams/event-additions.js';
import { decidedTargets } from './streams/decided-targets.js';
import { indexFeed } from './streams/feed-index.js';
import { desiredStateChanges, jobChanges } from './streams/record-changes.js';
import { sessionLog, type ShownLogEntry } from './streams/session-log.js';
import type { TargetOfJob } from '../jobs/job-target.resolver.js';

type Live<Value> = AsyncGenerator<Value, void, void>;

/** The fields of Subscription. Each value is resolved with new loaders. */
@Resolver()
export class SubscriptionResolver {
  private readonly sources: Omit<StreamSources, 'view'>;

  constructor(
    @Inject(FEED) feed: EventFeed,
    @Inject(LOGGER) logger: ApiLogger,
    @Inject(LIMITS) limits: ApiLimits,
    @Inject(FLEET) private readonly fleet: FleetOperations,
    @Inject(REGISTRY) private readonly registry: Pick<FleetWideStores, 'alerts'>,
  ) {
    this.sources = { feed: indexFeed(feed), logger, queueMax: limits.subscriptionQueueMax };
  }

  @Subscription('deviceChanged', { resolve: withFreshLoaders<DeviceRow> })
  deviceChanged(_root: unknown, { filter }: SubscriptionDeviceChangedArgs, { view }: ApiContext): Live<DeviceRow> {
    return deviceChanges({ ...this.sources, view }, parseDeviceFilter(filter));
  }

  @Subscription('deviceListChanged', { resolve: withFreshLoaders<DeviceListChange> })
  deviceListChanged(
    _root: unknown,
    { filter }: SubscriptionDeviceListChangedArgs,
    { view }: ApiContext,
  ): Live<DeviceListChange> {
    return deviceListChanges({ ...this.sources, view }, parseDeviceFilter(filter));
  }

  @Subscription('alertChanged', { resolve: withFreshLoaders<AlertRow> })
  alertChanged(_root: unknown, { filter }: SubscriptionAlertChangedArgs, context: ApiContext): Live<AlertRow> {
    const wanted = alertFilterOf(filter, context);
    return alertChanges({ ...this.sources, view: context.view, alerts: this.registry.alerts }, wanted);
  }

  // Nothing of an event is loaded.
  @Subscription('eventAdded', { resolve: (addition: EventAddition) => addition })
  eventAdded(_root: unknown, { filter }: SubscriptionEventAddedArgs, context: ApiContext): Live<EventBatch> {
    return eventAdditions({ ...this.sources, view: context.view }, parseEventFilter(filter));
  }

  @Subscription('jobProgress', { resolve: withFreshLoaders<Job> })
  async jobProgress(_root: unknown, { jobId }: SubscriptionJobProgressArgs, { view }: ApiContext): Promise<Live<Job>> {
    if (!(await view.jobs.find(jobId))) throw new ApiError('NOT_FOUND', `There is no job "${jobId}".`);
    return jobChanges({ ...this.sources, view }, jobId);
  }

  @Subscription('desiredStateChanged', { resolve: withFreshLoaders<DesiredStateRow> })
  async desiredStateChanged(
    _root: unknown,
    { id }: SubscriptionDesiredStateChangedArgs,
    { view }: ApiContext,
  ): Promise<Live<DesiredStateRow>> {
    if (!(await view.desiredStates.find(id))) throw new ApiError('NOT_FOUND', `There is no desired state "${id}".`);
    return desiredStateChanges({ ...this.sources, view }, id);
  }

  @Subscription('jobTargetsDecided', { resolve: withFreshLoaders<readonly TargetOfJob[]> })
  async jobTargetsDecided(
    _root: unknown,
    { jobId }: SubscriptionJobTargetsDecidedArgs,
    { view }: ApiContext,
  ): Promise<Live<readonly TargetOfJob[]>> {
    const job = await view.jobs.find(jobId);
    if (!job) throw new ApiError('NOT_FOUND', `There is no job "${jobId}".`);
    return decidedTargets({ ...this.sources, view }, job);
  }

  // Nothing of an entry is loaded.
  @Subscription('sessionLog', { resolve: (entry: ShownLogEntry) => entry })
  sessionLog(
    _root: unknown,
    { deviceId }: SubscriptionSessionLogArgs,
    context: ApiContext,
  ): Promise<Live<ShownLogEntry>> {
    return sessionLog((reader) => this.fleet.openSessionLog(deviceId, actorOf(context), reader));
  }
}

function withFreshLoaders<Value>(value: Value, _args: unknown, context: ApiContext): Value {
  context.renewLoaders();
  return value;
}
