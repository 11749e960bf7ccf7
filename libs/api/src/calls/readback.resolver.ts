import { ResolveField, Resolver } from '@nestjs/graphql';
import type { Readback } from '@flotilla/jobs';

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
