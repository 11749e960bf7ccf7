/**
 * Records where the time of calls goes, for operators who run a tracing system. A trace has the
 * spans of one call in all processes. Its context travels as a text in the form of the W3C header
 * `traceparent`. What records spans is in `apps/hub/src/measures`.
 */
import type { SettledCall } from '@flotilla/session';
import type { CallServer, RoutedCall } from './call-router.js';

/**
 * `call`: from the request to its outcome. `deliver`: on the way to the gateway and back.
 * `session`: in the gateway, with the queue of the device. `device`: from the bytes to the answer.
 */
export type CallSpanName = 'call' | 'deliver' | 'session' | 'device';

export type SpanAttributes = Readonly<Record<string, string>>;

export interface CallSpan {
  /** For the spans inside of this one, here and in other processes. */
  readonly context: string;
  /** Adds a span that has ended. Times are ms since the Unix epoch. */
  addPart(name: CallSpanName, from: number, until: number, attributes: SpanAttributes): void;
  end(end: { readonly outcome: string; readonly errorCode?: string | undefined }): void;
}

export interface CallTracer {
  /**
   * Begins a span inside of `parent`, or a trace where that is undefined or invalid. Undefined if
   * the trace is not recorded.
   */
  begin(name: CallSpanName, parent: string | undefined, attributes: SpanAttributes): CallSpan | undefined;
}

export function callAttributes({ deviceId, call }: RoutedCall): SpanAttributes {
  return {
    'flotilla.call.id': call.callId,
    'flotilla.device.id': deviceId,
    'gen_ai.tool.name': call.tool,
    'mcp.method.name': 'tools/call',
  };
}

export function endOf({ outcome }: SettledCall): Parameters<CallSpan['end']>[0] {
  return { outcome: outcome.kind, errorCode: outcome.error?.code };
}

/** The gateway's side: records the time in its queue and at the device. */
export function tracedEnqueue(server: CallServer, tracer: CallTracer | undefined): CallServer['enqueue'] {
  if (tracer === undefined) return (routed, settle) => server.enqueue(routed, settle);
  return (routed, settle) => {
    if (routed.trace === undefined) return server.enqueue(routed, settle);
    const attributes = callAttributes(routed);
    const span = tracer.begin('session', routed.trace, attributes);
    if (span === undefined) return server.enqueue(routed, settle);
    server.enqueue(routed, (settled) => {
      if (settled.sentAt !== undefined) span.addPart('device', settled.sentAt, settled.settledAt, attributes);
      span.end(endOf(settled));
      settle(settled);
    });
  };
}
