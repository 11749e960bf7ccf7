import { ResolveField, Resolver } from '@nestjs/graphql';
import type { Job } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';
import type { TargetRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import type { Serves } from '../serves.js';

export interface TargetOfJob extends TargetRow {
  /** Its job, where that is a roll-out: others have no downloads. */
  readonly rolloutId: JobId | undefined;
}

export function rolloutIdOf({ id, firmwareImageId }: Pick<Job, 'id' | 'firmwareImageId'>): JobId | undefined {
  return firmwareImageId === undefined ? undefined : id;
}

/** One device in a job; its plain fields are its row's. */
@Resolver('JobTarget')
export class JobTargetResolver implements Serves<'JobTarget', 'device' | 'download'> {
  @ResolveField()
  device(target: TargetOfJob, _args: unknown, { loaders }: ApiContext) {
    return loaders.device.load(target.deviceId);
  }

  @ResolveField()
  async download({ deviceId, rolloutId }: TargetOfJob, _args: unknown, { loaders }: ApiContext) {
    return rolloutId === undefined ? undefined : loaders.downloads.load({ jobId: rolloutId, deviceId });
  }
}
