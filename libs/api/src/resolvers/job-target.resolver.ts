import { ResolveField, Resolver } from '@nestjs/graphql';
import type { DeviceRow, TargetRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import type { JobTargetResolvers } from '../generated/schema-types.js';

/** One device in a job; its plain fields are its row's. */
@Resolver('JobTarget')
export class JobTargetResolver implements Required<Pick<JobTargetResolvers, 'device'>> {
  @ResolveField()
  device(target: TargetRow, _args: unknown, { loaders }: ApiContext): Promise<DeviceRow | undefined> {
    return loaders.device.load(target.deviceId);
  }
}
