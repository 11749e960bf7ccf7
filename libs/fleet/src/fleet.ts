/**
 * The operations of the fleet, declared once for GraphQL, REST and the MCP server. No HTTP, no
 * framework.
 */
import type { Bus, CallTracer } from '@flotilla/bus';
import { verificationTimes } from '@flotilla/jobs';
import type { VerificationTimes } from '@flotilla/jobs';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { Actor } from './actor.js';
import { noApprovals } from './approvals/approval-rules.js';
import type { ApprovalRules } from './approvals/approval-rules.js';
import type { CallAnswer, CallRequest } from './calls/call-request.js';
import { ToolCaller } from './calls/call-tool.js';
import { tracedCall } from './calls/traced-call.js';
import { isSessionEnd, verifiesRestart } from './calls/observe-calls.js';
import type { CallObserver } from './calls/observe-calls.js';
import { PolicyCache } from './policies/policy-cache.js';
import type { ProcessWatch } from './calls/process-watch.js';
import { refreshTools } from './calls/refresh-tools.js';
import type { SingleCalls } from './calls/single-calls.js';
import type { CallRules } from './calls/call-rules.js';
import type { FleetLogger } from './fleet-logger.js';
import {
  createDesiredState,
  deleteDesiredState,
  setDesiredStateEnabled,
  updateDesiredState,
} from './desired-states/desired-states.js';
import { previewDesiredState } from './desired-states/preview-desired-state.js';
import { WatchedTools } from './desired-states/watched-tools.js';
import { recordApplied } from './configuration/record-applied.js';
import { createDeviceGroup, deleteDeviceGroup, updateDeviceGroup } from './groups/device-groups.js';
import { approveJob, denyJob, scopeToApprove } from './jobs/commands/approve-job.js';
import { createJob, earlierJob } from './jobs/commands/create-job.js';
import { previewJob } from './jobs/commands/preview-job.js';
import type { PreviewJobDeps } from './jobs/commands/preview-job.js';
import { scopeToCall } from './jobs/commands/refuse-tool.js';
import { rerunJob } from './jobs/commands/rerun-job.js';
import { cancelJob, openNextWave, pauseJob, resumeJob } from './jobs/commands/steer-job.js';
import { deleteRecordingRule, setRecordingRule } from './measurements/recording-rules.js';
import { createApiKey, revokeApiKey } from './keys/api-keys.js';
import { deleteToolPolicy, setToolPolicy } from './policies/set-tool-policy.js';
import {
  createRecurringJob,
  deleteRecurringJob,
  runRecurringJob,
  updateRecurringJob,
} from './recurring/recurring-jobs.js';
import { previewRecurringJob } from './recurring/preview-recurring-job.js';
import { revertJob } from './rollout/revert-job.js';
import { scopeToRollOut } from './rollout/rollout-request.js';
import { openSessionLog, SessionLogReaders } from './session-log/open-session-log.js';
import { chooseDeviceVoiceServers } from './voice/choose-voice-servers.js';
import { VoiceOrigins } from './voice/voice-origins.js';

interface FleetDeps {
  readonly registry: Registry;
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed' | 'ticks'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly callRules: CallRules;
  readonly singleCalls: SingleCalls;
  /** Reports processes that died, in a hub of several processes. */
  readonly processes?: Pick<ProcessWatch, 'add'>;
  /** Which changes wait for a second person; none by default. */
  readonly approvals?: ApprovalRules;
  /** Whether only signed images are rolled out; false by default. */
  readonly mustBeSigned?: boolean;
  /** The origin from which connected devices fetch images, for previews. */
  readonly downloadOrigin?: () => string | undefined;
  /** The times of the processes that run jobs, for previews. */
  readonly verification?: VerificationTimes;
  /** IANA name, for devices and windows without a zone. */
  readonly timeZone: string;
  /** The voice servers that operators may choose; none by default. */
  readonly voiceOrigins?: VoiceOrigins;
  /** Receives each single call when it has settled. */
  readonly observeCall?: CallObserver;
  /** Records traces of single calls. */
  readonly tracer?: CallTracer | undefined;
}

/** Outcomes of calls that may have had an effect. */
const reached: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'UNKNOWN']);

const noVoiceServers = new VoiceOrigins({ own: [], listed: [] });

type OperationDeps = FleetDeps &
  PreviewJobDeps &
  Pick<Required<FleetDeps>, 'voiceOrigins'> & { readonly readers: SessionLogReaders };

export class Fleet {
  readonly #deps: OperationDeps;
  readonly #caller: ToolCaller;
  readonly #watched: WatchedTools;

  constructor(deps: FleetDeps) {
    const policies = new PolicyCache(deps.registry.toolPolicies, deps.clock, deps.bus.feed);
    const defaults = {
      approvals: noApprovals,
      mustBeSigned: false,
      downloadOrigin: () => undefined,
      verification: verificationTimes,
      voiceOrigins: noVoiceServers,
    };
    this.#deps = { ...defaults, ...deps, policies, readers: new SessionLogReaders() };
    this.#caller = new ToolCaller(this.#deps);
    this.#watched = new WatchedTools(this.#deps);
  }

  /** Waits for the outcome of the call. The hub made `ownUrl` for it; no caller can choose one. */
  async callTool(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    const startedAt = performance.now();
    const answer = await tracedCall(this.#deps.tracer, request, (traced) => this.#caller.call(traced, actor, ownUrl));
    this.#observe(answer, performance.now() - startedAt);
    if (answer.call !== undefined && reached.has(answer.call.outcome ?? ''))
      this.#watched.called(answer.call.deviceId, request.tool, 'MAYBE');
    return answer;
  }

  /** A restart is RESTARTED as in a job, although nothing verifies it: its record is UNKNOWN. */
  #observe({ call }: CallAnswer, tookMs: number): void {
    const { observeCall, policies } = this.#deps;
    const outcome = call?.outcome ?? 'REFUSED';
    if (call === undefined || !isSessionEnd(outcome, call.error)) return observeCall?.('single', outcome, tookMs);
    const mayRestart = policies.policyOf(call.tool).then(({ verification }) => verifiesRestart(verification));
    // The caller does not wait for the policy.
    void mayRestart
      .catch(() => false)
      .then((isRestart) => observeCall?.('single', isRestart ? 'RESTARTED' : outcome, tookMs));
  }

  /** Asks the device to list its tools again; resolves when the request was sent. */
  readonly refreshTools = this.#bind(refreshTools);

  /** Passes each message of a device to a reader, for at most 15 minutes. */
  readonly openSessionLog = this.#bind(openSessionLog);

  /** Creates a job; the same key with the same request returns the same job. */
  readonly createJob = this.#bind(createJob);
  /** The job of an idempotency key, before a caller selects devices for a repetition. */
  readonly earlierJob = this.#bind(earlierJob);
  /** Reports what `createJob` would do, and writes nothing. */
  readonly previewJob = this.#bind(previewJob);
  /** Creates a job over those targets of a finished job that ended with the given outcomes. */
  readonly rerunJob = this.#bind(rerunJob);
  /** Creates roll-outs of the versions that the devices of a job ran before it. */
  readonly revertJob = this.#bind(revertJob);
  readonly pauseJob = this.#bind(pauseJob);
  readonly resumeJob = this.#bind(resumeJob);
  readonly cancelJob = this.#bind(cancelJob);
  readonly openNextWave = this.#bind(openNextWave);
  /** Only a person other than the creator of the job may approve it. */
  readonly approveJob = this.#bind(approveJob);
  readonly denyJob = this.#bind(denyJob);
  readonly scopeToApprove = this.#bind(scopeToApprove);
  readonly scopeToCall = this.#bind(scopeToCall);
  readonly scopeToRollOut = this.#bind(scopeToRollOut);

  /** Creates a recording rule, or replaces the one with its id. */
  readonly setRecordingRule = this.#bind(setRecordingRule);
  readonly deleteRecordingRule = this.#bind(deleteRecordingRule);

  /** Creates a schedule of jobs; the same key with the same request returns the same one. */
  readonly createRecurringJob = this.#bind(createRecurringJob);
  readonly updateRecurringJob = this.#bind(updateRecurringJob);
  readonly deleteRecurringJob = this.#bind(deleteRecurringJob);
  /** Reports what `createRecurringJob` would do, and writes nothing. */
  readonly previewRecurringJob = this.#bind(previewRecurringJob);
  /** Starts a run now, besides the schedule. */
  readonly runRecurringJob = this.#bind(runRecurringJob);

  /** Creates a desired state; the same key with the same request returns the same one. */
  readonly createDesiredState = this.#bind(createDesiredState);
  readonly updateDesiredState = this.#bind(updateDesiredState);
  readonly setDesiredStateEnabled = this.#bind(setDesiredStateEnabled);
  readonly deleteDesiredState = this.#bind(deleteDesiredState);
  /** Reports what saving would do, and writes nothing. */
  readonly previewDesiredState = this.#bind(previewDesiredState);
  /** Records what the command line wrote from files. */
  readonly recordApplied = this.#bind(recordApplied);

  readonly setToolPolicy = this.#bind(setToolPolicy);
  readonly deleteToolPolicy = this.#bind(deleteToolPolicy);
  readonly createApiKey = this.#bind(createApiKey);
  readonly revokeApiKey = this.#bind(revokeApiKey);
  readonly createDeviceGroup = this.#bind(createDeviceGroup);
  readonly updateDeviceGroup = this.#bind(updateDeviceGroup);
  readonly deleteDeviceGroup = this.#bind(deleteDeviceGroup);
  /** Checks a change of the voice servers of a device. Throws FORBIDDEN for a scoped key. */
  readonly chooseVoiceServers = this.#bind(chooseDeviceVoiceServers);

  #bind<Args extends readonly unknown[], Answer>(
    operation: (deps: OperationDeps, ...args: Args) => Answer,
  ): (...args: Args) => Answer {
    return (...args) => operation(this.#deps, ...args);
  }
}
