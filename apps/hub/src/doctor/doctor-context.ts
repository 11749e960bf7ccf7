/** What all checks of the doctor know. */
import type { HubConfig } from '../settings/config.js';

export interface DoctorContext {
  readonly config: HubConfig;
  /** The process that uses the data folder; undefined if no hub runs on it. */
  readonly hubPid: number | undefined;
  /** Whether a hub answers on the HTTP port of the settings. */
  readonly isAnswering: boolean;
  readonly now: () => number;
}
