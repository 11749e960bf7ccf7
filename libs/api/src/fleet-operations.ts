/** What the API asks of the fleet service: the acts that reach devices and jobs. Reading goes to the registry directly. */
import type { Job, OfflinePolicy } from '@flotilla/jobs';
import type { CallRow, DeviceFilter } from '@flotilla/registry';
import type { UserErrorCode } from './generated/schema-types.js';

/** On whose behalf something is done. */
export interface Actor {
  readonly name: string;
  /** Whether user-only tools may be called. */
  readonly mayCallUserOnly: boolean;
}

/** An expected refusal: data for the caller, not an error. `path` names the input member. */
export interface Refusal {
  readonly code: UserErrorCode;
  readonly message: string;
  readonly path: readonly string[];
}

export interface CallRequest {
  readonly deviceId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
}

export interface JobRequest {
  readonly name?: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly devices: DeviceFilter;
  readonly offline: OfflinePolicy;
  readonly expiresInSeconds: number;
  readonly callTimeoutMs?: number;
  readonly maxInFlight: number;
}

export interface JobAnswer {
  readonly job?: Job;
  readonly refusal?: Refusal;
}

export interface FleetOperations {
  /** Waits for the call's outcome. Both members may be there: a recorded refusal. */
  callTool(request: CallRequest, actor: Actor): Promise<{ readonly call?: CallRow; readonly refusal?: Refusal }>;
  createJob(request: JobRequest, idempotencyKey: string, actor: Actor): Promise<JobAnswer>;
  pauseJob(id: string): Promise<JobAnswer>;
  resumeJob(id: string): Promise<JobAnswer>;
  cancelJob(id: string, force: boolean): Promise<JobAnswer>;
  refreshTools(deviceId: string): Promise<{ readonly refusal?: Refusal }>;
}
