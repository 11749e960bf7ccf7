/** Why a gateway settles a call that it did not pass to a session. */
import { notSent } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';

export type UnsentReason = Pick<SettledCall, 'outcome' | 'isMoving'>;

export const hasNoSession: UnsentReason = { outcome: notSent('DEVICE_OFFLINE', 'the device has no live session') };
export const hasReconnected: UnsentReason = {
  outcome: notSent('DEVICE_OFFLINE', 'the device has reconnected since'),
};

const moves = 'The device moves to another gateway, because this one stops. Nothing was sent. Try again later.';
const stops = 'The hub stops. Nothing was sent. Try again later.';

/** A job sends the call again. A single call follows a device that moves. */
export function whileLeaving(hasSuccessor: boolean): UnsentReason {
  return hasSuccessor
    ? { outcome: notSent('UNAVAILABLE', moves), isMoving: true }
    : { outcome: notSent('UNAVAILABLE', stops) };
}
