/** The two ends that a router itself may give a call; all others come from the gateway that took it. */
import type { CallOutcome } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import type { RoutedCall } from './call-router.js';

/** Nobody took the call: certainly not sent. */
export function gatewayAbsent(routed: RoutedCall, at: number): SettledCall {
  const outcome: CallOutcome = {
    kind: 'NOT_SENT',
    certainty: 'NEVER',
    error: { code: 'DEVICE_OFFLINE', message: 'No gateway that can be reached holds a session of this device.' },
  };
  return { callId: routed.call.callId, outcome, settledAt: at };
}

/** The call was handed over and nothing came back: it may have run. */
export function gatewaySilent(routed: RoutedCall, at: number): SettledCall {
  const outcome: CallOutcome = {
    kind: 'UNKNOWN',
    certainty: 'MAYBE',
    error: { code: 'GATEWAY_UNREACHABLE', message: 'The gateway that took the call did not answer by its deadline.' },
  };
  return { callId: routed.call.callId, outcome, settledAt: at };
}

/** Lets the first settlement through and drops the rest, whatever the callee does. */
export function settleOnce(settle: (settled: SettledCall) => void): (settled: SettledCall) => void {
  let isSettled = false;
  return (settled) => {
    if (isSettled) return;
    isSettled = true;
    settle(settled);
  };
}

/** More calls are out than this process will hold: certainly not sent. */
export function routerOverloaded(routed: RoutedCall, at: number): SettledCall {
  const outcome: CallOutcome = {
    kind: 'NOT_SENT',
    certainty: 'NEVER',
    error: { code: 'OVERLOADED', message: 'Too many calls wait for gateways of other processes.' },
  };
  return { callId: routed.call.callId, outcome, settledAt: at };
}
