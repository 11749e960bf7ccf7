/** The ends that a router itself may give a call; all others come from the gateway that took it. */
import type { CallError, CallOutcome, NotSentCode, UnknownCode } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import type { RoutedCall } from './call-router.js';

/** No gateway took the call: certainly not sent. */
export function gatewayAbsent(routed: RoutedCall, at: number): SettledCall {
  return notSent(routed, at, 'DEVICE_OFFLINE', 'No gateway that can be reached holds a session of this device.');
}

/** The call could not be handed over: certainly not sent. */
export function redisAway(routed: RoutedCall, at: number): SettledCall {
  return notSent(
    routed,
    at,
    'UNAVAILABLE',
    'Redis, over which the gateway of the device is reached, does not answer; nothing was sent.',
  );
}

/** The call was handed over and nothing came back: it may have run. */
export function gatewaySilent(routed: RoutedCall, at: number): SettledCall {
  return unknown(routed, at, 'The gateway that took the call did not answer by its deadline.');
}

/** Likewise, and the process of the gateway is gone. */
export function gatewayGone(routed: RoutedCall, at: number): SettledCall {
  return unknown(routed, at, 'The gateway that took the call lost its lease before it answered.');
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
  return notSent(routed, at, 'OVERLOADED', 'Too many calls wait for gateways of other processes.');
}

/** The gateway that took the call may not send it. */
export function gatewayRefused(routed: RoutedCall, at: number, error: CallError): SettledCall {
  return { callId: routed.call.callId, outcome: { kind: 'REJECTED', certainty: 'NEVER', error }, settledAt: at };
}

function notSent({ call }: RoutedCall, at: number, code: NotSentCode, message: string): SettledCall {
  const outcome: CallOutcome = { kind: 'NOT_SENT', certainty: 'NEVER', error: { code, message } };
  return { callId: call.callId, outcome, settledAt: at };
}

function unknown({ call }: RoutedCall, at: number, message: string): SettledCall {
  const code: UnknownCode = 'GATEWAY_UNREACHABLE';
  return {
    callId: call.callId,
    outcome: { kind: 'UNKNOWN', certainty: 'MAYBE', error: { code, message } },
    settledAt: at,
  };
}
