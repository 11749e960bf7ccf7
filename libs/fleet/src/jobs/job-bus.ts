/** The part of the bus that jobs use: each call over it is a call of a job. */
import type { Bus, CallRouter } from '@flotilla/bus';

export interface JobBus extends Pick<Bus, 'feed' | 'ticks'> {
  readonly calls: Pick<CallRouter, 'deliver'>;
}
