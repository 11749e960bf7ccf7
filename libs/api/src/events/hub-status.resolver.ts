import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { VoiceServerRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { REGISTRY, type FleetWideStores } from '../api-deps.js';
import type { HubStatus } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** The state of the hub: its processes, its write queues, and the voice servers. */
@Resolver()
export class HubStatusResolver implements Serves<'Query', 'hubStatus' | 'voiceServers'> {
  constructor(@Inject(REGISTRY) private readonly registry: FleetWideStores) {}

  @Query()
  async hubStatus(_root: unknown, _args: unknown, { view }: ApiContext): Promise<HubStatus> {
    const [processes, { deviceCount, onlineCount }] = await Promise.all([
      this.registry.fleetFigures.processes(),
      view.fleetFigures.counts(undefined),
    ]);
    return { processes, writers: this.registry.writers(), deviceCount, onlineCount };
  }

  @Query()
  voiceServers(): Promise<readonly VoiceServerRow[]> {
    return this.registry.voiceServers.list();
  }
}
