import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import type { JobAnswer, Refusal } from '@flotilla/fleet';
import type { Job } from '@flotilla/jobs';
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
  MutationResolvers,
  MutationResumeJobArgs,
  MutationRevertJobArgs,
} from '../generated/schema-types.js';
import { parseJobRequest } from './job-request-input.js';
import { jsonObject } from '../scalars/json-object.js';
import { targetOutcomes } from './target-outcomes.js';
import { userErrors } from '../errors/user-errors.js';

interface JobPayload {
  readonly job: Job | undefined;
  readonly userErrors: readonly Refusal[];
}

interface RevertPayload extends JobPayload {
  readonly others: readonly Job[];
}

/** Making and steering jobs. */
@Resolver()
export class JobMutationsResolver implements Required<
  Pick<
    MutationResolvers,
    | 'createJob'
    | 'rerunJob'
    | 'revertJob'
    | 'approveJob'
    | 'denyJob'
    | 'pauseJob'
    | 'resumeJob'
    | 'cancelJob'
    | 'openNextWave'
  >
> {
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Mutation()
  async createJob(
    _root: unknown,
    { input, idempotencyKey }: MutationCreateJobArgs,
    context: ApiContext,
  ): Promise<JobPayload> {
    return toPayload(await this.fleet.createJob(parseJobRequest(input), idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async rerunJob(_root: unknown, args: MutationRerunJobArgs, context: ApiContext): Promise<JobPayload> {
    const { id, outcomes, exceptCodes, idempotencyKey, arguments: given } = args;
    const replaced = given === undefined || given === null ? {} : { arguments: jsonObject(given, 'arguments') };
    const request = { outcomes: targetOutcomes(outcomes), exceptCodes: exceptCodes ?? [], ...replaced };
    return toPayload(await this.fleet.rerunJob(id, request, idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async approveJob(_root: unknown, { id }: MutationApproveJobArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.approveJob(id, actorOf(context)));
  }

  @Mutation()
  async denyJob(_root: unknown, { id, reason }: MutationDenyJobArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.denyJob(id, reason, actorOf(context)));
  }

  @Mutation()
  async pauseJob(_root: unknown, { id }: MutationPauseJobArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.pauseJob(id, actorOf(context)));
  }

  @Mutation()
  async resumeJob(_root: unknown, { id }: MutationResumeJobArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.resumeJob(id, actorOf(context)));
  }

  @Mutation()
  async cancelJob(_root: unknown, { id, force }: MutationCancelJobArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.cancelJob(id, force ?? false, actorOf(context)));
  }

  @Mutation()
  async revertJob(
    _root: unknown,
    { id, idempotencyKey }: MutationRevertJobArgs,
    context: ApiContext,
  ): Promise<RevertPayload> {
    const { others = [], ...answer } = await this.fleet.revertJob(id, idempotencyKey, actorOf(context));
    return { ...toPayload(answer), others };
  }

  @Mutation()
  async openNextWave(_root: unknown, { id }: MutationOpenNextWaveArgs, context: ApiContext): Promise<JobPayload> {
    return toPayload(await this.fleet.openNextWave(id, actorOf(context)));
  }
}

function toPayload({ job, refusal }: JobAnswer): JobPayload {
  return { job, userErrors: userErrors(refusal) };
}
