import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import { pageRequest, toConnection, type JobConnectionSource } from '../connection.js';
import { withoutNulls } from '../devices/device-filter-input.js';
import { ApiError } from '../errors/api-error.js';
import type { QueryJobsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** More than there are reasons. PostgreSQL compares each job with each of them. */
const pauseReasonsMax = 100;

/** Finding jobs by filter. */
@Resolver('JobConnection')
export class JobListResolver implements Serves<'Query', 'jobs'>, Serves<'JobConnection', 'totalCount'> {
  /** Latest first. */
  @Query()
  async jobs(_root: unknown, args: QueryJobsArgs, { view }: ApiContext) {
    const filter = withoutNulls(args.filter ?? {});
    const count = filter.exceptPauseReasons?.length ?? 0;
    if (count > pauseReasonsMax)
      throw new ApiError(
        'BAD_USER_INPUT',
        `"exceptPauseReasons" of a job filter takes at most ${pauseReasonsMax}, but has ${count}.`,
      );
    const page = await view.jobs.page(filter, pageRequest(args));
    return Object.assign(toConnection(page), { filter });
  }

  /** Counted only when asked for. */
  @ResolveField()
  totalCount({ filter }: JobConnectionSource, _args: unknown, { view }: ApiContext) {
    return view.jobs.count(filter);
  }
}
