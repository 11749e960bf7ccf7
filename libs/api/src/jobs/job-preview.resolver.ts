import { Inject } from '@nestjs/common';
import { Query, Resolver } from '@nestjs/graphql';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import type { FleetOperations } from '../fleet-operations.js';
import type { QueryPreviewJobArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { showPreview } from './job-preview.js';
import { parseJobRequest } from './job-request-input.js';

/** What a job would do, before anything is made. */
@Resolver()
export class JobPreviewResolver implements Serves<'Query', 'previewJob'> {
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Query()
  async previewJob(_root: unknown, { input }: QueryPreviewJobArgs, context: ApiContext) {
    return showPreview(await this.fleet.previewJob(parseJobRequest(input), actorOf(context)));
  }
}
