/**
 * The one place where calls are observed for metrics. `Fleet` reports single calls, and the bus of
 * the worker reports calls of jobs.
 */
import { callAttributes, endOf } from '@flotilla/bus';
import type { CallRouter, CallTracer } from '@flotilla/bus';
import type { CallOutcome, DeviceId } from '@flotilla/mcp';
import type { JobBus } from '../jobs/job-bus.js';

/** Receives the device and tool of each call of a job that may have had an effect. */
type JobCallListener = (deviceId: DeviceId, tool: string, certainty: CallOutcome['certainty']) => void;

/** Receives each call of this process once, when it has settled. */
export type CallObserver = (origin: 'single' | 'job', outcome: string, durationMs: number) => void;

export function observeJobCalls(
  { calls, feed, ticks }: JobBus,
  observe: CallObserver,
  listen: JobCallListener = () => undefined,
  tracer?: CallTracer,
): JobBus {
  const deliver: CallRouter['deliver'] = (gatewayId, routed, settle) => {
    const startedAt = performance.now();
    const span = tracer?.begin('call', undefined, callAttributes(routed));
    calls.deliver(gatewayId, span === undefined ? routed : { ...routed, trace: span.context }, (settled) => {
      span?.end(endOf(settled));
      observe('job', settled.outcome.kind, performance.now() - startedAt);
      listen(routed.deviceId, routed.call.tool, settled.outcome.certainty);
      settle(settled);
    });
  };
  return { calls: { deliver }, feed, ticks };
}
