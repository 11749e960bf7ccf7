import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { findToolPolicy, withHubTools } from '@flotilla/jobs';
import type { FleetToolRow, StoredTool, ToolFilter } from '@flotilla/registry';
import { mayCallUserOnly, type ApiContext } from '../api-context.js';
import { pageRequest, toConnection } from '../connection.js';
import { parseDeviceFilter, withoutNulls } from '../devices/device-filter-input.js';
import type { QueryToolsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** The tools of the fleet, and what the operator knows about them. */
@Resolver('Tool')
export class ToolResolver implements Serves<'Query', 'tools' | 'toolPolicies'>, Serves<'Tool', 'policy'> {
  @Query()
  async tools(_root: unknown, args: QueryToolsArgs, { viewer, view }: ApiContext) {
    const request = pageRequest(args);
    const { devices, ...plain } = args.filter ?? {};
    const deviceFilter = parseDeviceFilter(devices);
    const asked: ToolFilter = { ...withoutNulls(plain), ...(deviceFilter ? { devices: deviceFilter } : {}) };
    if (mayCallUserOnly(viewer)) return toConnection(await view.toolSets.pageOfTools(asked, request));
    if (asked.userOnly === true) return toConnection({ rows: [], cursors: [], hasNextPage: false });
    return toConnection(await view.toolSets.pageOfTools({ ...asked, userOnly: false }, request));
  }

  @Query()
  async toolPolicies(_root: unknown, _args: unknown, { loaders }: ApiContext) {
    return withHubTools(await loaders.toolPolicies());
  }

  @ResolveField()
  async policy(tool: StoredTool, _args: unknown, { loaders }: ApiContext) {
    return findToolPolicy(await loaders.toolPolicies(), tool.name);
  }
}

/** A distinct tool over the fleet; its plain fields are its row's. */
@Resolver('FleetTool')
export class FleetToolResolver implements Serves<'FleetTool', 'policy'> {
  @ResolveField()
  async policy(tool: FleetToolRow, _args: unknown, { loaders }: ApiContext) {
    return findToolPolicy(await loaders.toolPolicies(), tool.name);
  }
}
