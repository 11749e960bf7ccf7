/** The part of the bus that jobs use: each call over it is a call of a job. */
import type { Bus, CallRouter } from '@flotilla/bus';

export interface JobBus extends Pick<Bus, 'feed' | 'ticks'> {
  readonly calls: {
    /** `verifiesRestart`: the session may end unanswered, because the job verifies the device. */
    deliver(...call: [...Parameters<CallRouter['deliver']>, verifiesRestart?: boolean]): void;
  };
}
