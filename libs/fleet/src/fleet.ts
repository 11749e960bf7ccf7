/** What an operator can do with the fleet: the operations that the API, the agents' door and the command line share. No HTTP, no framework. */
import { BusError } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import { verificationTimes } from '@flotilla/jobs';
import type { ToolPolicy, VerificationTimes } from '@flotilla/jobs';
import type { NewApiKey, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { Actor } from './actor.js';
import { noApprovals } from './approvals/approval-rules.js';
import type { ApprovalRules } from './approvals/approval-rules.js';
import { ToolCaller } from './calls/call-tool.js';
import type { CallAnswer, CallRequest } from './calls/call-tool.js';
import { createApiKey, revokeApiKey } from './keys/api-keys.js';
import type { CreatedApiKey, RevokedApiKey } from './keys/api-keys.js';
import { previewJob } from './jobs/commands/preview-job.js';
import type { JobPreview, PreviewJobDeps } from './jobs/commands/preview-job.js';
import { rerunJob } from './jobs/commands/rerun-job.js';
import type { RerunRequest } from './jobs/commands/rerun-job.js';
import { approveJob, denyJob } from './jobs/commands/approve-job.js';
import { createDeviceGroup, deleteDeviceGroup, updateDeviceGroup } from './groups/device-groups.js';
import type { DeviceGroupRequest, SavedGroup } from './groups/device-groups.js';
import { createJob } from './jobs/commands/create-job.js';
import type { JobAnswer } from './jobs/commands/create-job.js';
import type { JobRequest } from './jobs/commands/job-request.js';
import type { FleetLogger } from './fleet-logger.js';
import { isBusAway, lookUp, redisAway } from './calls/look-up.js';
import { PolicyBook } from './calls/policy-book.js';
import type { ProcessWatch } from './calls/process-watch.js';
import { deleteToolPolicy, setToolPolicy } from './policies/set-tool-policy.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';
import { cancelJob, openNextWave, pauseJob, resumeJob } from './jobs/commands/steer-job.js';
import { revertJob } from './rollout/revert-job.js';
import type { RevertAnswer } from './rollout/revert-job.js';
import type { RolloutRequest } from './rollout/rollout-request.js';
import type { SingleCalls } from './calls/single-calls.js';
import type { ToolGate } from './calls/tool-gate.js';
import { chooseVoiceServers } from './voice/choose-voice-servers.js';
import type { ChosenVoice } from './voice/choose-voice-servers.js';
import { VoiceOrigins } from './voice/voice-origins.js';

export interface FleetDeps {
  readonly registry: Pick<
    Registry,
    | 'events'
    | 'viewFor'
    | 'apiKeys'
    | 'audit'
    | 'calls'
    | 'deviceGroups'
    | 'devices'
    | 'disruptiveCalls'
    | 'firmwareImages'
    | 'jobs'
    | 'rollouts'
    | 'toolPolicies'
    | 'toolSets'
  >;
  readonly bus: Pick<Bus, 'calls' | 'directory' | 'feed' | 'ticks'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly gate: ToolGate;
  readonly singleCalls: SingleCalls;
  /** Of a hub that may be several processes. */
  readonly processes?: Pick<ProcessWatch, 'add'>;
  /** What waits for a second person (nothing). */
  readonly approvals?: ApprovalRules;
  /** Whether only signed images are rolled out (no). */
  readonly mustBeSigned?: boolean;
  /** Where connected devices fetch images, for a preview to judge; unknown unless given. */
  readonly downloadOrigin?: () => string | undefined;
  /** Of the processes that run jobs, for a preview to count with; the defaults unless given. */
  readonly verification?: VerificationTimes;
  /** The voice servers that operators may choose for devices and groups; none unless given. */
  readonly voiceOrigins?: VoiceOrigins;
}

const noVoiceServers = new VoiceOrigins({ own: [], listed: [] });
const gatewaySilent = 'The gateway of the device took the request and did not answer. Try again later.';

export class Fleet {
  readonly #deps: FleetDeps & PreviewJobDeps & Pick<Required<FleetDeps>, 'voiceOrigins'>;
  readonly #caller: ToolCaller;

  constructor(deps: FleetDeps) {
    const policies = new PolicyBook(deps.registry.toolPolicies, deps.clock, deps.bus.feed);
    const defaults = {
      ...{ approvals: noApprovals, mustBeSigned: false, downloadOrigin: () => undefined },
      ...{ verification: verificationTimes, voiceOrigins: noVoiceServers },
    };
    this.#deps = { ...defaults, ...deps, policies };
    this.#caller = new ToolCaller(this.#deps);
  }

  /** Waits for the call's outcome. `ownUrl`: an address in the arguments that the hub made for this call, which no caller can name. */
  callTool(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    return this.#caller.call(request, actor, ownUrl);
  }

  /** The same key with the same request returns the same job. */
  createJob(request: JobRequest | RolloutRequest, idempotencyKey: string, actor: Actor): Promise<JobAnswer> {
    return createJob(this.#deps, request, idempotencyKey, actor);
  }

  pauseJob(id: string, actor: Actor): Promise<JobAnswer> {
    return pauseJob(this.#deps, id, actor);
  }

  resumeJob(id: string, actor: Actor): Promise<JobAnswer> {
    return resumeJob(this.#deps, id, actor);
  }

  /** New roll-outs back to what the job's devices ran before. The same key returns the same jobs. */
  revertJob(id: string, idempotencyKey: string, actor: Actor): Promise<RevertAnswer> {
    return revertJob(this.#deps, id, idempotencyKey, actor);
  }

  openNextWave(id: string, actor: Actor): Promise<JobAnswer> {
    return openNextWave(this.#deps, id, actor);
  }

  cancelJob(id: string, force: boolean, actor: Actor): Promise<JobAnswer> {
    return cancelJob(this.#deps, id, force, actor);
  }

  /** What `createJob` would do. Writes nothing. */
  previewJob(request: JobRequest | RolloutRequest, actor: Actor): Promise<JobPreview> {
    return previewJob(this.#deps, request, actor);
  }

  /** A new job over the targets of a finished one that ended so. */
  rerunJob(id: string, request: RerunRequest, idempotencyKey: string, actor: Actor): Promise<JobAnswer> {
    return rerunJob(this.#deps, id, request, idempotencyKey, actor);
  }

  /** By another person than the one that made the job. */
  approveJob(id: string, actor: Actor): Promise<JobAnswer> {
    return approveJob(this.#deps, id, actor);
  }

  denyJob(id: string, reason: string, actor: Actor): Promise<JobAnswer> {
    return denyJob(this.#deps, id, reason, actor);
  }

  setToolPolicy(policy: ToolPolicy, actor: Actor): ReturnType<typeof setToolPolicy> {
    return setToolPolicy(this.#deps, policy, actor);
  }

  deleteToolPolicy(pattern: string, actor: Actor): ReturnType<typeof deleteToolPolicy> {
    return deleteToolPolicy(this.#deps, pattern, actor);
  }

  createApiKey(key: NewApiKey, actor: Actor): Promise<CreatedApiKey> {
    return createApiKey(this.#deps, key, actor);
  }

  revokeApiKey(id: string, actor: Actor): Promise<RevokedApiKey> {
    return revokeApiKey(this.#deps, id, actor);
  }

  createDeviceGroup(request: DeviceGroupRequest, actor: Actor): Promise<SavedGroup> {
    return createDeviceGroup(this.#deps, request, actor);
  }

  updateDeviceGroup(id: string, request: DeviceGroupRequest, actor: Actor): Promise<SavedGroup> {
    return updateDeviceGroup(this.#deps, id, request, actor);
  }

  deleteDeviceGroup(id: string, actor: Actor): ReturnType<typeof deleteDeviceGroup> {
    return deleteDeviceGroup(this.#deps, id, actor);
  }

  /** Judges a change of a device's voice servers. Throws FORBIDDEN for a narrowed key. */
  async chooseVoiceServers(deviceId: string, text: string | null, actor: Actor): Promise<ChosenVoice> {
    const device = await this.#deps.registry.viewFor(actor).devices.find(deviceId);
    if (device === undefined) return { refusal: noSuchDevice(deviceId, ['input', 'deviceId']) };
    const choice = { text, before: device.voiceUrls, path: ['input', 'voiceUrl'] };
    return chooseVoiceServers(choice, actor, this.#deps.voiceOrigins);
  }

  /** Has the device list its tools again; resolves when it was asked. */
  async refreshTools(deviceId: string, actor: Actor): Promise<{ readonly refusal?: Refusal }> {
    const { bus, logger, registry } = this.#deps;
    const device = await registry.viewFor(actor).devices.find(deviceId);
    if (device === undefined) return { refusal: noSuchDevice(deviceId, ['deviceId']) };
    const { entry, refusal } = await lookUp(bus.directory, device.id);
    if (refusal !== undefined) return { refusal };
    try {
      if (entry !== undefined && (await bus.calls.refreshTools(entry.gatewayId, entry.deviceId))) return {};
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      logger.warn({ err: error, deviceId }, 'could not ask a device for its tools');
      return { refusal: isBusAway(error) ? redisAway : refuse('UNAVAILABLE', ['deviceId'], gatewaySilent) };
    }
    return { refusal: refuse('DEVICE_OFFLINE', ['deviceId'], 'The device is not connected.') };
  }
}

function noSuchDevice(deviceId: string, path: readonly string[]): Refusal {
  return refuse('NOT_FOUND', path, `There is no device "${deviceId}".`);
}
