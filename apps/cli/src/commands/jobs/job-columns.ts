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
  { key: 'name', of: ({ name, firmwareImage }) => name ?? (firmwareImage && imageName(firmwareImage)) },
  { key: 'createdBy', head: 'BY' },
  'createdAt',
];

/** An unnamed roll-out is known by its image, as in the console. */
function imageName({ project, version }: NonNullable<JobRowFragment['firmwareImage']>): string {
  return `${project} ${version}`;
}
