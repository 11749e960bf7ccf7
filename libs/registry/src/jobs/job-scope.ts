import type { DeviceFilter } from '../device-filter.js';

/**
 * Limits a viewer to jobs with a target among `within`, and to jobs that `creator` (`principalRef`)
 * created.
 */
export interface JobScope {
  readonly within: DeviceFilter;
  readonly creator: string;
}
