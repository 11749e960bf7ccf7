import { ResolveField, Resolver } from '@nestjs/graphql';
import { policyRevision } from '@flotilla/fleet';
import type { Readback, ToolPolicy } from '@flotilla/jobs';
import type { Serves } from '../serves.js';

@Resolver('ToolPolicy')
export class ToolPolicyResolver implements Serves<'ToolPolicy', 'revision'> {
  @ResolveField()
  revision(policy: ToolPolicy) {
    return policyRevision(policy);
  }
}

const SETTLE_MS = 600;

/** What applies where a policy does not say more. */
@Resolver('Readback')
export class ReadbackResolver {
  @ResolveField()
  tolerance({ tolerance }: Readback): number {
    return tolerance ?? 0;
  }

  @ResolveField()
  settleMs({ settleMs }: Readback): number {
    return settleMs ?? SETTLE_MS;
  }
}
