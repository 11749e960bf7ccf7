/**
 * Where a target goes when its turn comes, as SQL over the target `t` and what was found of its device, `l(is_gone, is_online, offline)`: to whoever sends, to
 * those who wait, or to its end. A device that was removed meanwhile is skipped.
 */

/** Codes under which a call may have run. */
const MAY_HAVE_RUN = `('TIMEOUT', 'SESSION_CLOSED', 'HUB_RESTARTED', 'GATEWAY_UNREACHABLE')`;

/** The outcome of a target that was sent before and is not sent again: what its latest attempt ended in. */
export const LATEST_END = `CASE WHEN t.error_code IS NULL OR t.error_code IN ${MAY_HAVE_RUN} THEN 'UNKNOWN'
  WHEN t.error_code IN ('NOT_APPLIED_OR_ROLLED_BACK', 'UPDATE_DID_NOT_START_OR_FAILED') THEN 'VERIFY_FAILED' ELSE 'FAILED' END`;

export const IS_ENDED = `(l.is_gone OR (NOT l.is_online AND l.offline <> 'WAIT'))`;

export function placedState(whenOnline: 'READY' | 'DISPATCHING'): string {
  return `CASE WHEN ${IS_ENDED} THEN 'DECIDED' WHEN l.is_online THEN '${whenOnline}' ELSE 'WAITING_DEVICE' END::target_state`;
}

export const PLACED_OUTCOME = `CASE WHEN NOT ${IS_ENDED} THEN NULL WHEN t.attempts > 0 THEN ${LATEST_END}
  WHEN l.is_gone OR l.offline = 'SKIP' THEN 'SKIPPED' ELSE 'REJECTED' END::outcome`;

const IS_REJECTED = `(NOT l.is_gone AND NOT l.is_online AND l.offline = 'FAIL' AND t.attempts = 0)`;

/** Assignments of the error that a rejected target gets; an error of an earlier attempt stays until the next one ends. */
export const PLACED_ERROR = `error_code = CASE WHEN ${IS_REJECTED} THEN 'DEVICE_OFFLINE' ELSE t.error_code END,
  error_message = CASE WHEN ${IS_REJECTED} THEN 'The device was offline when its turn came.' ELSE t.error_message END`;
