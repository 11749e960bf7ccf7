/** What the API asks of the fleet service: the acts that reach devices and jobs. Reading goes to the registry directly. */
import type { Fleet } from '@flotilla/fleet';

export type FleetOperations = Pick<Fleet, 'callTool' | 'createJob' | 'pauseJob' | 'resumeJob' | 'cancelJob' | 'refreshTools'>;
