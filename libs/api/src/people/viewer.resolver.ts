import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { TIME_ZONE } from '../api-deps.js';
import { showDeviceFilter } from '../devices/device-filter-input.js';
import type { Viewer } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Who asks. */
@Resolver()
export class ViewerResolver implements Serves<'Query', 'viewer'> {
  constructor(@Inject(TIME_ZONE) private readonly hubTimeZone: string) {}

  @Query()
  viewer(_root: unknown, _args: unknown, { viewer, session }: ApiContext): Viewer {
    const { scopes } = viewer;
    // Agents that people connected do not reach GraphQL.
    const kind = viewer.kind === 'USER' ? 'USER' : 'KEY';
    const devices = viewer.devices && showDeviceFilter(viewer.devices);
    const { hubTimeZone } = this;
    return { name: session?.user.name ?? viewer.name, scopes, kind, devices, user: session?.user, hubTimeZone };
  }
}
