import type { JobId } from '@flotilla/mcp';

/**
 * The ownership of a running job by one process. The fence grows with each owner; statements with
 * an older one change nothing.
 */
export interface JobFence {
  readonly jobId: JobId;
  readonly fence: number;
}
