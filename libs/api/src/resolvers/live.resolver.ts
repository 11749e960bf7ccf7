import { Inject } from '@nestjs/common';
import { Resolver, Subscription } from '@nestjs/graphql';
import type { EventFeed } from '@flotilla/bus';
import type { Job } from '@flotilla/jobs';
import type { DeviceRow, Registry } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { FEED, LIMITS, LOGGER, REGISTRY, type ApiLogger } from '../api-deps.js';
import { ApiError } from '../api-error.js';
import { parseDeviceFilter, withoutNulls } from '../device-filter-input.js';
import type { SubscriptionDeviceChangedArgs, SubscriptionEventAddedArgs, SubscriptionJobProgressArgs } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { deviceChanges, type StreamSources } from '../subscriptions/device-changes.js';
import { eventAdditions, type EventAddition } from '../subscriptions/event-additions.js';
import { jobChanges } from '../subscriptions/job-changes.js';

type Live<Value> = AsyncGenerator<Value, void, void>;

/** What happens while somebody looks. The streams are in ../subscriptions; each value is resolved with loaders of its own. */
@Resolver()
export class LiveResolver {
  private readonly sources: StreamSources;

  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(FEED) feed: EventFeed,
    @Inject(LOGGER) logger: ApiLogger,
    @Inject(LIMITS) limits: ApiLimits,
  ) {
    this.sources = { registry, feed, logger, queueMax: limits.subscriptionQueueMax };
  }

  @Subscription('deviceChanged', { resolve: withFreshLoaders<DeviceRow> })
  deviceChanged(_root: unknown, { filter }: SubscriptionDeviceChangedArgs): Live<DeviceRow> {
    return deviceChanges(this.sources, parseDeviceFilter(filter));
  }

  @Subscription('eventAdded', { resolve: withFreshLoaders<EventAddition> })
  eventAdded(_root: unknown, { filter }: SubscriptionEventAddedArgs): Live<EventAddition> {
    return eventAdditions(this.sources, withoutNulls(filter ?? {}));
  }

  @Subscription('jobProgress', { resolve: withFreshLoaders<Job> })
  async jobProgress(_root: unknown, { jobId }: SubscriptionJobProgressArgs): Promise<Live<Job>> {
    if (!(await this.registry.jobs.find(jobId))) throw new ApiError('NOT_FOUND', `There is no job "${jobId}".`);
    return jobChanges(this.sources, jobId);
  }
}

function withFreshLoaders<Value>(value: Value, _args: unknown, context: ApiContext): Value {
  context.renewLoaders();
  return value;
}
