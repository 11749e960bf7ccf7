/**
 * The one place where calls are observed for metrics. `Fleet` reports single calls, and the bus of
 * the worker reports calls of jobs.
 */
import { callAttributes, endOf } from '@flotilla/bus';
import type { CallTracer } from '@flotilla/bus';
import type { Verification } from '@flotilla/jobs';
import type { CallOutcome, DeviceId } from '@flotilla/mcp';
import type { JobBus } from '../jobs/job-bus.js';

/** Receives the device and tool of each call of a job that may have had an effect. */
type JobCallListener = (deviceId: DeviceId, tool: string, certainty: CallOutcome['certainty']) => void;

/** Receives each call of this process once, when it has settled: its outcome, or RESTARTED. */
export type CallObserver = (origin: 'single' | 'job', outcome: string, durationMs: number) => void;

export function observeJobCalls(
  { calls, feed, ticks }: JobBus,
  observe: CallObserver,
  listen: JobCallListener = () => undefined,
  tracer?: CallTracer,
): JobBus {
  const deliver: JobBus['calls']['deliver'] = (gatewayId, routed, settle, mayRestart = false) => {
    const startedAt = performance.now();
    const span = tracer?.begin('call', undefined, callAttributes(routed));
    calls.deliver(gatewayId, span === undefined ? routed : { ...routed, trace: span.context }, (settled) => {
      span?.end(endOf(settled));
      const { kind, error } = settled.outcome;
      const outcome = mayRestart && isSessionEnd(kind, error) ? 'RESTARTED' : kind;
      observe('job', outcome, performance.now() - startedAt);
      listen(routed.deviceId, routed.call.tool, settled.outcome.certainty);
      settle(settled);
    });
  };
  return { calls: { deliver }, feed, ticks };
}

/** The session ended before the answer. After a call that restarts the device, that is expected. */
export function isSessionEnd(outcome: string | undefined, error: CallOutcome['error']): boolean {
  return outcome === 'UNKNOWN' && error?.code === 'SESSION_CLOSED';
}

/** Whether a tool with this verification restarts the device. */
export function verifiesRestart(verification: Verification): boolean {
  return verification === 'REBOOT' || verification === 'FIRMWARE';
}
