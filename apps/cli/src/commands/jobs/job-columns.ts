/** The columns of a list of jobs. */
import { decidedOf, stateOf, troublesOf } from '../../console/job-progress.js';
import type { ColumnLike } from '../../console/output-format.js';
import type { JobRowFragment } from '../../generated/operations.js';

export const jobColumns: readonly ColumnLike<JobRowFragment>[] = [
  'id',
  { key: 'state', of: stateOf },
  { key: 'decided', of: (job) => `${decidedOf(job)}/${job.progress.total}` },
  { key: 'troubles', of: troublesOf },
  'tool',
  'name',
  { key: 'createdBy', head: 'BY' },
  'createdAt',
];
