import { ResolveField, Resolver } from '@nestjs/graphql';
import { findToolPolicy, type ToolPolicy } from '@flotilla/jobs';
import type { FleetToolRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import type { FleetToolResolvers } from '../generated/schema-types.js';

/** A distinct tool over the fleet; its plain fields are its row's. */
@Resolver('FleetTool')
export class FleetToolResolver implements Required<Pick<FleetToolResolvers, 'policy'>> {
  @ResolveField()
  async policy(tool: FleetToolRow, _args: unknown, { loaders }: ApiContext): Promise<ToolPolicy> {
    return findToolPolicy(await loaders.toolPolicies(), tool.name);
  }
}
