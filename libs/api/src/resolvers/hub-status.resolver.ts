import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { REGISTRY, type FleetWideStores } from '../api-deps.js';
import type { HubStatus, QueryResolvers } from '../generated/schema-types.js';

/** The hub itself: its processes and what waits to be written. */
@Resolver()
export class HubStatusResolver implements Required<Pick<QueryResolvers, 'hubStatus'>> {
  constructor(@Inject(REGISTRY) private readonly registry: FleetWideStores) {}

  @Query()
  async hubStatus(_root: unknown, _args: unknown, { view }: ApiContext): Promise<HubStatus> {
    const [processes, { deviceCount, onlineCount }] = await Promise.all([
      this.registry.fleetFigures.processes(),
      view.fleetFigures.counts(undefined),
    ]);
    return { processes, writers: this.registry.writers(), deviceCount, onlineCount };
  }
}
