import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { Registry } from '@flotilla/registry';
import { REGISTRY } from '../api-deps.js';
import type { HubStatus, QueryResolvers } from '../generated/schema-types.js';

/** The hub itself: its processes and what waits to be written. */
@Resolver()
export class HubStatusResolver implements Required<Pick<QueryResolvers, 'hubStatus'>> {
  constructor(@Inject(REGISTRY) private readonly registry: Registry) {}

  @Query()
  async hubStatus(): Promise<HubStatus> {
    const [processes, { deviceCount, onlineCount }] = await Promise.all([
      this.registry.fleetFigures.processes(),
      this.registry.fleetFigures.counts(undefined),
    ]);
    return { processes, writers: this.registry.writers(), deviceCount, onlineCount };
  }
}
