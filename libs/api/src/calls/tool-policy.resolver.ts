import { ResolveField, Resolver } from '@nestjs/graphql';
import { policyRevision } from '@flotilla/fleet';
import type { ToolPolicy } from '@flotilla/jobs';
import type { ToolPolicyResolvers } from '../generated/schema-types.js';

@Resolver('ToolPolicy')
export class ToolPolicyResolver implements Required<Pick<ToolPolicyResolvers, 'revision'>> {
  @ResolveField()
  revision(policy: ToolPolicy): string {
    return policyRevision(policy);
  }
}
