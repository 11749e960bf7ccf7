import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { CronTimes, mayChangeRecurringJob, recurringJobRevision } from '@flotilla/fleet';
import type { JobAnswer, RecurringJobRequest, SavedRecurringJob } from '@flotilla/fleet';
import { isScopedFilter, principalRef, type RecurringJobRow } from '@flotilla/registry';
import { hasScopeFor } from '../access/required-scopes.js';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { MissingScopes } from '../calls/missing-scopes.js';
import { shownArguments } from '../calls/shown-arguments.js';
import { pageRequest, pageSize, toConnection } from '../connection.js';
import { shownDeviceFilter } from '../devices/shown-device-filter.js';
import { userErrors } from '../errors/user-errors.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  MutationCreateRecurringJobArgs,
  MutationDeleteRecurringJobArgs,
  MutationRunRecurringJobArgs,
  MutationUpdateRecurringJobArgs,
  QueryRecurringJobArgs,
  QueryRecurringJobsArgs,
  RecurringJobInput,
  RecurringJobJobsArgs,
  RecurringJobNextRunsArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { parseJobRequest } from './job-request-input.js';

/** Times of one answer; each is computed. */
const NEXT_RUNS_MAX = 100;

/** Schedules that create jobs. A scoped key sees those that it created. */
@Resolver('RecurringJob')
export class RecurringJobResolver
  implements
    Serves<'Query', 'recurringJob' | 'recurringJobs'>,
    Serves<
      'RecurringJob',
      'job' | 'isLimited' | 'nextRuns' | 'lastJob' | 'jobs' | 'revision' | 'viewerMayChange' | 'runScopeMissing'
    >,
    Serves<'Mutation', 'createRecurringJob' | 'updateRecurringJob' | 'deleteRecurringJob' | 'runRecurringJob'>
{
  readonly #missing: MissingScopes;

  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {
    this.#missing = new MissingScopes(fleet);
  }

  @Query()
  async recurringJob(_root: unknown, { id }: QueryRecurringJobArgs, context: ApiContext) {
    const job = await this.registry.recurringJobs.find(id);
    const creator = creatorSeenBy(context);
    return creator === undefined || job?.createdById === creator ? job : undefined;
  }

  @Query()
  async recurringJobs(_root: unknown, args: QueryRecurringJobsArgs, context: ApiContext) {
    const creator = creatorSeenBy(context);
    const { recurringJobs } = this.registry;
    const [page, totalCount] = await Promise.all([
      recurringJobs.page(pageRequest(args), creator),
      recurringJobs.count(creator),
    ]);
    return Object.assign(toConnection(page), { totalCount });
  }

  @Mutation()
  async createRecurringJob(
    _root: unknown,
    { input, idempotencyKey }: MutationCreateRecurringJobArgs,
    context: ApiContext,
  ) {
    return toPayload(await this.fleet.createRecurringJob(requestOf(input), idempotencyKey, actorOf(context)));
  }

  @Mutation()
  async updateRecurringJob(
    _root: unknown,
    { id, input, expectedRevision }: MutationUpdateRecurringJobArgs,
    context: ApiContext,
  ) {
    const request = requestOf(input);
    return toPayload(await this.fleet.updateRecurringJob(id, request, actorOf(context), expectedRevision ?? undefined));
  }

  @Mutation()
  async deleteRecurringJob(_root: unknown, { id }: MutationDeleteRecurringJobArgs, context: ApiContext) {
    const { refusal } = await this.fleet.deleteRecurringJob(id, actorOf(context));
    return refusal ? { userErrors: userErrors(refusal) } : { deletedId: id, userErrors: [] };
  }

  @Mutation()
  async runRecurringJob(_root: unknown, { id }: MutationRunRecurringJobArgs, context: ApiContext) {
    const { job, refusal }: JobAnswer = await this.fleet.runRecurringJob(id, actorOf(context));
    return { job, userErrors: userErrors(refusal) };
  }

  @ResolveField()
  async job({ request }: RecurringJobRow, _args: unknown, context: ApiContext) {
    const { tool, arguments: given } = request;
    return {
      ...request,
      ...(tool !== undefined && given && { arguments: await shownArguments({ tool, arguments: given }, context) }),
      devices: await shownDeviceFilter(request.devices, context),
    };
  }

  @ResolveField()
  isLimited({ request }: RecurringJobRow) {
    return isScopedFilter(request.devices);
  }

  @ResolveField()
  revision(job: RecurringJobRow) {
    return recurringJobRevision(job);
  }

  @ResolveField()
  viewerMayChange(job: RecurringJobRow, _args: unknown, context: ApiContext) {
    return hasScopeFor(context.viewer, 'updateRecurringJob') && mayChangeRecurringJob(job, actorOf(context));
  }

  @ResolveField()
  runScopeMissing({ request: { tool } }: RecurringJobRow, _args: unknown, context: ApiContext) {
    return tool === undefined ? this.fleet.scopeToRollOut(actorOf(context)) : this.#missing.of(tool, context);
  }

  @ResolveField()
  nextRuns(job: RecurringJobRow, { first }: RecurringJobNextRunsArgs) {
    const count = pageSize(first, 5, NEXT_RUNS_MAX);
    if (!job.enabled) return [];
    return new CronTimes(job).list(count, Date.now(), job.until);
  }

  @ResolveField()
  lastJob({ id }: RecurringJobRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.lastJob.load(id);
  }

  @ResolveField()
  async jobs({ id }: RecurringJobRow, args: RecurringJobJobsArgs, { view }: ApiContext) {
    const request = pageRequest({ ...args, first: args.first ?? 20 });
    const filter = { recurringJobId: id };
    return Object.assign(toConnection(await view.jobs.page(filter, request)), { filter });
  }
}

/** Undefined for viewers who see all. */
function creatorSeenBy({ viewer }: ApiContext): string | undefined {
  return viewer.devices === undefined ? undefined : principalRef(viewer);
}

function requestOf(input: RecurringJobInput): RecurringJobRequest {
  const { name, cron, timeZone, job, missed, overlap, until, enabled } = input;
  return {
    name,
    cron: cron.trim(),
    timeZone,
    job: parseJobRequest(job),
    missed: missed ?? 'SKIP',
    overlap: overlap ?? 'SKIP',
    until: until ?? undefined,
    enabled: enabled ?? true,
  };
}

function toPayload(saved: SavedRecurringJob) {
  return 'refusal' in saved ? { userErrors: userErrors(saved.refusal) } : { recurringJob: saved.job, userErrors: [] };
}
