import { Inject } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { isCreatorOf } from '@flotilla/fleet';
import { emptyProgress, rerunOffer } from '@flotilla/jobs';
import type { Job, RerunOffer } from '@flotilla/jobs';
import { hasScopeFor } from '../access/required-scopes.js';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import { pageRequest, pageSize, toConnection } from '../connection.js';
import { shownArguments } from '../calls/shown-arguments.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  JobDecidedOverTimeArgs,
  JobFailureGroupsArgs,
  JobTargetsArgs,
  QueryJobArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { pointCount } from '../limits/within.js';
import { paceOf, waveView } from './job-progress.js';
import { targetOutcomes } from './target-outcomes.js';
import { rolloutIdOf } from './job-target.resolver.js';

/** Reading jobs, how far they are, and what came of each target. */
@Resolver('Job')
export class JobResolver
  implements
    Serves<'Query', 'job'>,
    Serves<
      'Job',
      | 'arguments'
      | 'progress'
      | 'conclusion'
      | 'waves'
      | 'trippedRule'
      | 'targets'
      | 'failureGroups'
      | 'rerunOffer'
      | 'decidedOverTime'
      | 'firmwareImage'
      | 'approvalTargetCount'
      | 'createdByViewer'
      | 'approvalScopeMissing'
      | 'viewerMaySteer'
    >
{
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Query()
  job(_root: unknown, { id }: QueryJobArgs, { view }: ApiContext) {
    return view.jobs.find(id);
  }

  @ResolveField()
  arguments(job: Job, _args: unknown, context: ApiContext) {
    return shownArguments(job, context);
  }

  @ResolveField()
  async progress(job: Job, _args: unknown, { loaders }: ApiContext) {
    const progress = (await loaders.jobProgress.load(job.id)) ?? emptyProgress;
    return { ...progress, ...paceOf(job, progress, Date.now()) };
  }

  @ResolveField()
  firmwareImage({ firmwareImageId }: Job, _args: unknown, { loaders }: ApiContext) {
    return firmwareImageId === undefined ? undefined : loaders.firmwareImage.load(firmwareImageId);
  }

  @ResolveField()
  approvalTargetCount({ approvalTargets }: Job) {
    return approvalTargets;
  }

  @ResolveField()
  createdByViewer(job: Job, _args: unknown, context: ApiContext) {
    return isCreatorOf(job, actorOf(context));
  }

  @ResolveField()
  approvalScopeMissing(job: Job, _args: unknown, context: ApiContext) {
    return this.fleet.scopeToApprove(job, actorOf(context));
  }

  /** Pausing, resuming, cancelling and opening a wave need the same. */
  @ResolveField()
  async viewerMaySteer(job: Job, _args: unknown, { viewer, loaders }: ApiContext) {
    return hasScopeFor(viewer, 'cancelJob') && !(await loaders.hasTargetsOutside.load(job));
  }

  /**
   * A cancelled job knows its conclusion before its last calls end; it shows it only afterwards.
   */
  @ResolveField()
  conclusion(job: Job) {
    return job.state === 'FINISHED' ? job.conclusion : undefined;
  }

  @ResolveField()
  async waves(job: Job, _args: unknown, { loaders }: ApiContext) {
    return (await loaders.jobWaves.load(job.id)).map(({ wave, progress }) => waveView(wave, progress));
  }

  @ResolveField()
  trippedRule({ trippedRule }: Job) {
    if (trippedRule === undefined) return undefined;
    const { rule, wave, decided, failed, at } = trippedRule;
    return { outcomes: rule.outcomes, scope: rule.scope, action: rule.action, wave, decided, failed, at };
  }

  @ResolveField()
  async targets(job: Job, args: JobTargetsArgs, { loaders }: ApiContext) {
    const request = pageRequest(args);
    const filter = args.outcomes ? { outcomes: targetOutcomes(args.outcomes) } : {};
    const page = await loaders.jobTargets(job.id, { ...request, ...filter });
    const rolloutId = rolloutIdOf(job);
    return toConnection({ ...page, rows: page.rows.map((row) => ({ ...row, rolloutId })) });
  }

  @ResolveField()
  failureGroups(job: Job, { first }: JobFailureGroupsArgs, { loaders }: ApiContext) {
    return loaders.failureGroups(job.id, pageSize(first, 20));
  }

  @ResolveField()
  async rerunOffer(job: Job, _args: unknown, { loaders }: ApiContext): Promise<RerunOffer | undefined> {
    return job.state === 'FINISHED' ? rerunOffer(await loaders.failureCodes.load(job.id)) : undefined;
  }

  @ResolveField()
  decidedOverTime(job: Job, { points }: JobDecidedOverTimeArgs, { loaders }: ApiContext) {
    return loaders.decidedOverTime(job.id, pointCount(points, 120));
  }
}
