import { Inject } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { isCreatorOf } from '@flotilla/fleet';
import { emptyProgress, rerunOffer } from '@flotilla/jobs';
import type { Job, JobConclusion, JobProgress, RerunOffer } from '@flotilla/jobs';
import type { DecidedPoint, FailureGroupRow, FirmwareImageRow, Scope } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET, LIMITS } from '../api-deps.js';
import { pageRequest, pageSize, toConnection, type Connection } from '../connection.js';
import { shownArguments } from '../calls/shown-arguments.js';
import type { FleetOperations } from '../fleet-operations.js';
import type {
  JobDecidedOverTimeArgs,
  JobFailureGroupsArgs,
  JobResolvers,
  JobTargetsArgs,
  QueryJobArgs,
  QueryResolvers,
} from '../generated/schema-types.js';
import { pointCount } from '../limits/within.js';
import { paceOf, waveView, type JobPace, type WaveView } from './job-progress.js';
import type { ApiLimits } from '../limits/api-limits.js';
import { targetOutcomes } from './target-outcomes.js';
import { rolloutIdOf, type TargetOfJob } from './job-target.resolver.js';

/** Reading jobs, how far they are, and what came of each target. */
@Resolver('Job')
export class JobResolver
  implements
    Required<Pick<QueryResolvers, 'job'>>,
    Required<
      Pick<
        JobResolvers,
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
      >
    >
{
  constructor(
    @Inject(LIMITS) private readonly limits: ApiLimits,
    @Inject(FLEET) private readonly fleet: FleetOperations,
  ) {}

  @Query()
  job(_root: unknown, { id }: QueryJobArgs, { view }: ApiContext): Promise<Job | undefined> {
    return view.jobs.find(id);
  }

  @ResolveField()
  arguments(job: Job, _args: unknown, context: ApiContext): Promise<Job['arguments']> {
    return shownArguments(job, context);
  }

  @ResolveField()
  async progress(job: Job, _args: unknown, { loaders }: ApiContext): Promise<JobProgress & JobPace> {
    const progress = (await loaders.jobProgress.load(job.id)) ?? emptyProgress;
    return { ...progress, ...paceOf(job, progress, Date.now()) };
  }

  @ResolveField()
  firmwareImage(
    { firmwareImageId }: Job,
    _args: unknown,
    { loaders }: ApiContext,
  ): Promise<FirmwareImageRow | undefined> | undefined {
    return firmwareImageId === undefined ? undefined : loaders.firmwareImage.load(firmwareImageId);
  }

  @ResolveField()
  approvalTargetCount({ approvalTargets }: Job): number | undefined {
    return approvalTargets;
  }

  @ResolveField()
  createdByViewer(job: Job, _args: unknown, context: ApiContext): boolean {
    return isCreatorOf(job, actorOf(context));
  }

  @ResolveField()
  approvalScopeMissing(job: Job, _args: unknown, context: ApiContext): Promise<Scope | undefined> {
    return this.fleet.scopeToApprove(job, actorOf(context));
  }

  /**
   * A cancelled job knows its conclusion before its last calls end; it shows it only afterwards.
   */
  @ResolveField()
  conclusion(job: Job): JobConclusion | undefined {
    return job.state === 'FINISHED' ? job.conclusion : undefined;
  }

  @ResolveField()
  async waves(job: Job, _args: unknown, { loaders }: ApiContext): Promise<readonly WaveView[]> {
    return (await loaders.jobWaves.load(job.id)).map(({ wave, progress }) => waveView(wave, progress));
  }

  @ResolveField()
  trippedRule({ trippedRule }: Job) {
    if (trippedRule === undefined) return undefined;
    const { rule, wave, decided, failed, at } = trippedRule;
    return { outcomes: rule.outcomes, scope: rule.scope, action: rule.action, wave, decided, failed, at };
  }

  @ResolveField()
  async targets(job: Job, args: JobTargetsArgs, { loaders }: ApiContext): Promise<Connection<TargetOfJob>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    const filter = args.outcomes ? { outcomes: targetOutcomes(args.outcomes) } : {};
    const page = await loaders.jobTargets(job.id, { ...request, ...filter });
    const rolloutId = rolloutIdOf(job);
    return toConnection({ ...page, rows: page.rows.map((row) => ({ ...row, rolloutId })) });
  }

  @ResolveField()
  failureGroups(
    job: Job,
    { first }: JobFailureGroupsArgs,
    { loaders }: ApiContext,
  ): Promise<readonly FailureGroupRow[]> {
    return loaders.failureGroups(job.id, pageSize(first, 20, this.limits.pageRowsMax));
  }

  @ResolveField()
  async rerunOffer(job: Job, _args: unknown, { loaders }: ApiContext): Promise<RerunOffer | undefined> {
    return job.state === 'FINISHED' ? rerunOffer(await loaders.failureCodes.load(job.id)) : undefined;
  }

  @ResolveField()
  decidedOverTime(
    job: Job,
    { points }: JobDecidedOverTimeArgs,
    { loaders }: ApiContext,
  ): Promise<readonly DecidedPoint[]> {
    return loaders.decidedOverTime(job.id, pointCount(points, 120));
  }
}
