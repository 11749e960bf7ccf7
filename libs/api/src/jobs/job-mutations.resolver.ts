import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { JobAnswer } from '@flotilla/fleet';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  MutationApproveJobArgs,
  MutationCancelJobArgs,
  MutationCreateJobArgs,
  MutationDenyJobArgs,
  MutationOpenNextWaveArgs,
  MutationPauseJobArgs,
  MutationRerunJobArgs,
  MutationResumeJobArgs,
  MutationRevertJobArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { parseJobRequest } from './job-request-input.js';
import { jsonObject } from '../scalars/json-object.js';
import { targetOutcomes } from './target-outcomes.js';
import { userErrors } from '../errors/user-errors.js';

/** Making and steering jobs. */
@Resolver()
export class JobMutationsResolver implements Serves<
  'Mutation',
  | 'createJob'
  | 'rerunJob'
  | 'revertJob'
  | 'approveJob'
  | 'denyJob'
  | 'pauseJob'
  | 'resumeJob'
  | 'cancelJob'
  | 'openNextWave'
> {
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Mutation()
  async createJob(_root: unknown, { input, idempotencyKey }: MutationCreateJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.createJob(parseJobRequest(input), idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async rerunJob(_root: unknown, args: MutationRerunJobArgs, context: ApiContext) {
    const { id, outcomes, exceptCodes, idempotencyKey, arguments: given } = args;
    const replaced = given === undefined || given === null ? {} : { arguments: jsonObject(given, 'arguments') };
    const request = { outcomes: targetOutcomes(outcomes), exceptCodes: exceptCodes ?? [], ...replaced };
    return toPayload(await this.fleet.rerunJob(id, request, idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async approveJob(_root: unknown, { id }: MutationApproveJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.approveJob(id, actorOf(context)));
  }

  @Mutation()
  async denyJob(_root: unknown, { id, reason }: MutationDenyJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.denyJob(id, reason, actorOf(context)));
  }

  @Mutation()
  async pauseJob(_root: unknown, { id }: MutationPauseJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.pauseJob(id, actorOf(context)));
  }

  @Mutation()
  async resumeJob(_root: unknown, { id }: MutationResumeJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.resumeJob(id, actorOf(context)));
  }

  @Mutation()
  async cancelJob(_root: unknown, { id, force }: MutationCancelJobArgs, context: ApiContext) {
    return toPayload(await this.fleet.cancelJob(id, force ?? false, actorOf(context)));
  }

  @Mutation()
  async revertJob(_root: unknown, { id, idempotencyKey }: MutationRevertJobArgs, context: ApiContext) {
    const { others = [], ...answer } = await this.fleet.revertJob(id, idempotencyKey, actorOf(context));
    return { ...toPayload(answer), others };
  }

  @Mutation()
  async openNextWave(_root: unknown, { id }: MutationOpenNextWaveArgs, context: ApiContext) {
    return toPayload(await this.fleet.openNextWave(id, actorOf(context)));
  }
}

function toPayload({ job, refusal }: JobAnswer) {
  return { job, userErrors: userErrors(refusal) };
}
