/** The first span of a single call, inside the trace of its caller if that has one. */
import { callAttributes, endOf } from '@flotilla/bus';
import type { CallTracer, RoutedCall } from '@flotilla/bus';
import type { SettledCall } from '@flotilla/session';
import type { CallAnswer, CallRequest } from './call-request.js';

/** Passes the request on, with the context for the spans inside of this one. */
export async function tracedCall(
  tracer: CallTracer | undefined,
  request: CallRequest,
  run: (request: CallRequest) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  const { deviceId, tool, trace } = request;
  const span = tracer?.begin('call', trace, { 'flotilla.device.id': deviceId, 'gen_ai.tool.name': tool });
  // The text of a caller goes no further: only contexts of this hub travel between its processes.
  if (span === undefined) return run(trace === undefined ? request : { ...request, trace: undefined });
  try {
    const answer = await run({ ...request, trace: span.context });
    const { call, refusal } = answer;
    span.end({ outcome: call?.outcome ?? 'REFUSED', errorCode: call?.error?.code ?? refusal?.code });
    return answer;
  } catch (error) {
    span.end({ outcome: 'REFUSED', errorCode: 'INTERNAL' });
    throw error;
  }
}

/** The way to the gateway and back. */
export async function tracedDelivery(
  tracer: CallTracer | undefined,
  routed: RoutedCall,
  deliver: (routed: RoutedCall) => Promise<SettledCall>,
): Promise<SettledCall> {
  const span = routed.trace === undefined ? undefined : tracer?.begin('deliver', routed.trace, callAttributes(routed));
  if (span === undefined) return deliver(routed);
  const settled = await deliver({ ...routed, trace: span.context });
  span.end(endOf(settled));
  return settled;
}
