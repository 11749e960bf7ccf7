/** Shows what a schedule would do, and stores nothing. */
import type { Actor } from '../actor.js';
import { previewLaterJob } from '../jobs/commands/preview-job.js';
import type { JobPreview, PreviewJobDeps } from '../jobs/commands/preview-job.js';
import type { Refusal } from '../refusal.js';
import { CronTimes } from './cron-times.js';
import { refuseRecurringJob } from './recurring-request.js';
import type { RecurringJobRequest } from './recurring-request.js';

/** Times of one preview. */
const nextRunsMax = 5;

type RecurringJobPreview =
  | { readonly refusal: Refusal }
  /** What a run would do now, and when the first runs are due, ms since the Unix epoch. */
  | { readonly job: JobPreview; readonly nextRuns: readonly number[] };

/** The same rules as for creation, except those about other recurring jobs. */
export async function previewRecurringJob(
  deps: PreviewJobDeps,
  request: RecurringJobRequest,
  actor: Actor,
): Promise<RecurringJobPreview> {
  const refusal = await refuseRecurringJob(deps, request, actor);
  if (refusal !== undefined) return { refusal };
  const job = await previewLaterJob(deps, request.job, actor);
  return { job, nextRuns: new CronTimes(request).list(nextRunsMax, deps.clock.now(), request.until) };
}
