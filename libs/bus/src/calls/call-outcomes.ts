/** The outcomes that a router itself can give a call; all others come from the gateway. */
import { notSent } from '@flotilla/mcp';
import type { CallError, NotSentCode, UnknownCode } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import type { RoutedCall } from './call-router.js';

/** No gateway received the call: certainly not sent. */
export function gatewayAbsent(routed: RoutedCall, at: number): SettledCall {
  return unsent(
    routed,
    at,
    'DEVICE_OFFLINE',
    'No gateway received the call: that of the device has stopped, or has no connection to Redis. ' +
      'Nothing was sent. Try again when the device is connected.',
  );
}

/** The call could not be delivered: certainly not sent. */
export function redisAway(routed: RoutedCall, at: number): SettledCall {
  return unsent(
    routed,
    at,
    'UNAVAILABLE',
    'Redis, which connects to the gateway of the device, does not answer or has just recovered. ' +
      'Nothing was sent. Try again later.',
  );
}

/** The call was delivered without an answer: it may have run. */
export function gatewaySilent(routed: RoutedCall, at: number): SettledCall {
  return unknown(routed, at, 'The gateway that received the call did not answer by its deadline.');
}

/** Likewise, and the process of the gateway has ended. */
export function gatewayGone(routed: RoutedCall, at: number): SettledCall {
  return unknown(routed, at, 'The gateway that received the call lost its lease before it answered.');
}

/** Passes only the first settlement on. */
export function settleOnce(settle: (settled: SettledCall) => void): (settled: SettledCall) => void {
  let isSettled = false;
  return (settled) => {
    if (isSettled) return;
    isSettled = true;
    settle(settled);
  };
}

/** This process has too many pending calls: certainly not sent. */
export function routerOverloaded(routed: RoutedCall, at: number): SettledCall {
  return unsent(
    routed,
    at,
    'OVERLOADED',
    'Too many calls wait for gateways of other processes. Nothing was sent. Try again later.',
  );
}

/** The gateway that received the call rejected it, or cannot send it now. */
export function gatewayRefused(routed: RoutedCall, at: number, error: CallError): SettledCall {
  if (error.code === 'UNAVAILABLE') return unsent(routed, at, error.code, error.message);
  return { callId: routed.call.callId, outcome: { kind: 'REJECTED', certainty: 'NEVER', error }, settledAt: at };
}

function unsent({ call }: RoutedCall, at: number, code: NotSentCode, message: string): SettledCall {
  return { callId: call.callId, outcome: notSent(code, message), settledAt: at };
}

function unknown({ call }: RoutedCall, at: number, message: string): SettledCall {
  const code: UnknownCode = 'GATEWAY_UNREACHABLE';
  return {
    callId: call.callId,
    outcome: { kind: 'UNKNOWN', certainty: 'MAYBE', error: { code, message } },
    settledAt: at,
  };
}
