/** What the worker of desired states is given. */
import type { Bus } from '@flotilla/bus';
import type { ProcessLease, Registry } from '@flotilla/registry';
import type { SingleCalls } from '../../calls/single-calls.js';
import type { CallToolDeps } from '../../calls/call-tool.js';
import type { CallerLookUps } from '../../recurring/current-actor.js';
import type { CreateJobDeps } from '../../jobs/commands/create-job.js';

export interface DesiredStateRunnerDeps
  extends Omit<CreateJobDeps, 'policies' | 'bus'>, Omit<CallToolDeps, 'policies' | 'bus' | 'singleCalls'> {
  readonly registry: CreateJobDeps['registry'] &
    CallToolDeps['registry'] &
    CallerLookUps &
    Pick<
      Registry,
      'desiredStateQueue' | 'desiredStateStore' | 'desiredStates' | 'events' | 'targetPreparation' | 'toolPolicies'
    >;
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed' | 'ticks'>;
  readonly lease: Pick<ProcessLease, 'id' | 'lost'>;
  readonly singleCalls: Pick<SingleCalls, 'areExpected'>;
  /** IANA name, for devices without a zone. */
  readonly timeZone: string;
  /** From 0 to 1. */
  readonly chance?: () => number;
  readonly observe?: DesiredStateObserver | undefined;
}

/** For metrics. */
export interface DesiredStateObserver {
  setEnded(outcome: string): void;
  converged(share: '50' | '95' | '99', seconds: number): void;
}
