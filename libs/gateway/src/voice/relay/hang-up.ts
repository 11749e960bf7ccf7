/** Ends the WebSocket of a device whose conversation is over, once its calls have ended. */
import type { Clock } from '@flotilla/session';
import type { ConversingDevice } from '../../conversations/conversation-host.js';
import type { VoiceLimits } from '../voice-limits.js';

type Limits = Pick<VoiceLimits, 'drainPollMs' | 'lastCallsMsMax'>;

/** A call that is cut off may have run, and its result is unknown. */
export function hangUpAfterCalls(device: ConversingDevice, clock: Clock, limits: Limits, waitedMs = 0): void {
  const { drainPollMs, lastCallsMsMax } = limits;
  if (device.pendingCalls() === 0 || waitedMs >= lastCallsMsMax) device.hangUp('conversation_ended');
  else clock.setTimer(drainPollMs, () => hangUpAfterCalls(device, clock, limits, waitedMs + drainPollMs));
}
