import { outOfSyncStates } from '@flotilla/desired-state';

/** Whether `device d` is out of sync. An index is on exactly this list of states. */
export const IS_OUT_OF_SYNC = `EXISTS (SELECT FROM desired_state_target o WHERE o.device_id = d.id
  AND o.state IN (${outOfSyncStates.map((state) => `'${state}'`).join(', ')}))`;
