/**
 * The one place where calls are observed for metrics. `Fleet` reports single calls, and the bus of
 * the worker reports calls of jobs.
 */
import type { Bus, CallRouter } from '@flotilla/bus';

/** Receives each call of this process once, when it has settled. */
export type CallObserver = (origin: 'single' | 'job', outcome: string, durationMs: number) => void;

/** The part of the bus that jobs use: each call over it is a call of a job. */
export interface JobBus extends Pick<Bus, 'feed' | 'ticks'> {
  readonly calls: Pick<CallRouter, 'call'>;
}

export function observeJobCalls({ calls, feed, ticks }: JobBus, observe: CallObserver): JobBus {
  const call: CallRouter['call'] = (gatewayId, routed, settle) => {
    const startedAt = performance.now();
    calls.call(gatewayId, routed, (settled) => {
      observe('job', settled.outcome.kind, performance.now() - startedAt);
      settle(settled);
    });
  };
  return { calls: { call }, feed, ticks };
}
