/** One tool call on one device, from the request to the recorded outcome. Every call that names a known device leaves a record, also when it is refused. */
import type { Bus, DirectoryEntry } from '@flotilla/bus';
import { applyFailureText, argumentsBytesMax, callTimeoutMsMax, callTimeoutMsMin } from '@flotilla/jobs';
import type { ToolPolicy } from '@flotilla/jobs';
import { hubCall, identifyTool, maskArguments } from '@flotilla/mcp';
import type { CallError, CallId, CallOutcome, DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { CallRow, Registry } from '@flotilla/registry';
import type { Clock, SettledCall } from '@flotilla/session';
import { ownerOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { approvalWindowMs, isCounted } from '../approvals/approval-rules.js';
import type { ApprovalRules } from '../approvals/approval-rules.js';
import type { FleetLogger } from '../fleet-logger.js';
import { auditedActionOf, entryOfEnd, entryOfIntent, entryOfRefused } from './call-audit.js';
import type { AuditedCallAction } from './call-audit.js';
import { refusalOfCall } from './call-refusal.js';
import { KeyedCalls } from './keyed-calls.js';
import { refuseKey } from '../idempotency/refuse-key.js';
import { newId } from '../new-id.js';
import { lookUp } from './locate-device.js';
import type { PolicyBook } from './policy-cache.js';
import type { ProcessWatch } from './process-watch.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { requestHash } from '../idempotency/request-hash.js';
import type { SingleCalls } from './single-calls.js';
import type { ToolGate } from './tool-gate.js';

export interface CallRequest {
  readonly deviceId: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Time from now to the outcome, 1,000 to 300,000 ms; what the tool's policy says where it is not given. */
  readonly timeoutMs?: number;
  /** With it, a repetition of the same request gets the first one's call instead of another. */
  readonly idempotencyKey?: string;
}

/** Both where a recorded call was refused before the wire; a refusal alone where there is no such device, or for limits and idempotency. */
export interface CallAnswer {
  readonly call?: CallRow;
  readonly refusal?: Refusal;
}

export interface CallToolDeps {
  readonly registry: Pick<Registry, 'audit' | 'calls' | 'devices' | 'disruptiveCalls' | 'toolSets' | 'viewFor'>;
  readonly bus: Pick<Bus, 'calls' | 'directory'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly gate: ToolGate;
  readonly policies: PolicyBook;
  readonly singleCalls: Pick<SingleCalls, 'during'>;
  readonly approvals: ApprovalRules;
  /** Of a hub that may be several processes. */
  readonly processes?: Pick<ProcessWatch, 'add'>;
}

/** A call that has its id and deadline, and no outcome yet. */
interface StartedCall {
  readonly id: CallId;
  readonly deviceId: DeviceId;
  /** What the device can do, or could when it was last online. */
  readonly toolSetHash: ToolSetHash | undefined;
  readonly request: CallRequest;
  readonly actor: Actor;
  readonly ownUrl: string | undefined;
  readonly policy: ToolPolicy;
  readonly timeoutMs: number;
  readonly startedAt: number;
}

/** An outcome, and what the audit trail has of it. */
interface CallEnd {
  readonly outcome: CallOutcome;
  /** Undefined where the audit trail does not take the call. */
  readonly audited?: AuditedCallAction | undefined;
  /** Whether its intent is on the audit trail, or on its way there. */
  readonly isIntended?: boolean;
}

/** How long an answer waits for its record to be on disk, ms. While PostgreSQL is away longer the record waits alone, and no further call is taken. */
const recordWaitMs = 2_000;

/** Characters of names that a caller gives: they are stored and indexed. */
const nameLengthMax = 200;

export class ToolCaller {
  readonly #deps: CallToolDeps;
  readonly #keyed: KeyedCalls;

  constructor(deps: CallToolDeps) {
    this.#deps = deps;
    this.#keyed = new KeyedCalls(deps.registry.calls, deps.clock, deps.processes);
  }

  /** `ownUrl`: an address in the arguments that the hub made for this call, which no caller can name. */
  call(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    return this.#deps.singleCalls.during(() => this.#call(request, actor, ownUrl));
  }

  async #call(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    const { registry, bus, clock, policies } = this.#deps;
    const refusal = refuseRequest(request);
    if (refusal !== undefined) return { refusal };
    if (registry.calls.isOverloaded) {
      return {
        refusal: refuse('OVERLOADED', [], 'The hub cannot write call records as fast as calls come; nothing was sent.'),
      };
    }
    const startedAt = clock.now();
    const id = newId(startedAt) as CallId;
    const found = await lookUp(bus.directory, request.deviceId as DeviceId);
    if (found.refusal !== undefined) return { refusal: found.refusal };
    const { entry } = found;
    const isKnown = entry !== undefined && actor.devices === undefined;
    const device = isKnown ? undefined : await registry.viewFor(actor).devices.find(request.deviceId);
    const deviceId = isKnown ? entry.deviceId : device?.id;
    if (deviceId === undefined) {
      return { refusal: refuse('NOT_FOUND', ['input', 'deviceId'], `There is no device "${request.deviceId}".`) };
    }
    const policy = await policies.policyOf(request.tool);
    const toolSetHash = entry === undefined ? device?.toolSetHash : entry.toolSetHash;
    const started = {
      id,
      deviceId,
      toolSetHash,
      request,
      actor,
      ownUrl,
      policy,
      timeoutMs: request.timeoutMs ?? policy.callTimeoutMs,
      startedAt,
    };
    return request.idempotencyKey === undefined
      ? this.#finish(started, entry)
      : this.#finishOnce(started, entry, request.idempotencyKey);
  }

  async #finishOnce(started: StartedCall, entry: DirectoryEntry | undefined, key: string): Promise<CallAnswer> {
    const { id, deviceId, request, actor, startedAt } = started;
    const { tool, arguments: args } = request;
    const claim = await this.#deps.registry.calls.claimKey({
      principal: actor.id,
      actor: actor.name,
      key,
      requestHash: requestHash({ deviceId, tool, args, timeoutMs: request.timeoutMs }),
      callId: id,
      deviceId,
      tool,
      arguments: args,
      startedAt,
    });
    switch (claim.kind) {
      case 'claimed':
        return this.#keyed.hold(id, this.#finish(started, entry));
      case 'conflict':
        return {
          refusal: refuse('IDEMPOTENCY_KEY_REUSED', ['input', 'idempotencyKey'], 'The key was used for another call.'),
        };
      case 'repeat':
        return answerOf(
          await this.#keyed.endOf(claim.call, { timeoutMs: started.timeoutMs, processId: claim.processId }),
        );
    }
  }

  async #finish(started: StartedCall, entry: DirectoryEntry | undefined): Promise<CallAnswer> {
    const end = await this.#end(started, entry);
    const call = this.#rowOf(started, end.outcome);
    await this.#record(call, started, end);
    return answerOf(call);
  }

  async #end(started: StartedCall, entry: DirectoryEntry | undefined): Promise<CallEnd> {
    const { toolSetHash, request, actor, ownUrl, policy } = started;
    const toolSet = toolSetHash === undefined ? undefined : await this.#deps.registry.toolSets.get(toolSetHash);
    const audited = auditedActionOf(toolSet, request.tool, policy);
    if (entry === undefined) return { outcome: offline, audited };
    const refusal =
      this.#deps.gate.refuseActor(request.tool, actor) ??
      this.#deps.gate.refuse(toolSet, { ...request, ...actor }, ownUrl);
    if (refusal !== undefined) {
      return { outcome: { kind: 'REJECTED', certainty: 'NEVER', error: refusal.error }, audited };
    }
    const unapproved = await this.#refuseUnapproved(started);
    if (unapproved !== undefined)
      return { outcome: { kind: 'REJECTED', certainty: 'NEVER', error: unapproved }, audited };
    if (audited !== undefined && this.#deps.registry.audit.isOverloaded) return { outcome: unauditable };
    if (audited !== undefined && !(await this.#writeIntent(started, audited)))
      return { outcome: unauditable, audited, isIntended: true };
    const settled = await this.#send(started, entry);
    return {
      outcome: applyFailureText(settled.outcome, policy.failureText),
      audited,
      isIntended: audited !== undefined,
    };
  }

  /** Where approvals are on, one person disrupts only few devices by single calls: more need a job, which another person approves. */
  async #refuseUnapproved({
    deviceId,
    request,
    actor,
    policy,
    startedAt,
  }: StartedCall): Promise<CallError | undefined> {
    const { approvals, registry } = this.#deps;
    if (!isCounted(approvals, { tool: request.tool, policy })) return undefined;
    const bounds = { devicesMax: approvals.callDevicesMax, windowMs: approvalWindowMs };
    if (await registry.disruptiveCalls.take({ owner: ownerOf(actor), deviceId, at: startedAt }, bounds))
      return undefined;
    const message =
      `"${request.tool}" disrupts devices, and one person may call such tools on ${bounds.devicesMax} devices in an hour. ` +
      'Use createJob, which waits for the approval of another person, or try again later; nothing was sent.';
    return { code: 'APPROVAL_REQUIRED', message };
  }

  /** Whether it is on disk in time. */
  #writeIntent({ id, deviceId, request, actor, startedAt }: StartedCall, audited: AuditedCallAction): Promise<boolean> {
    const { tool, arguments: args } = request;
    return this.#isDoneInTime(
      this.#deps.registry.audit.record(
        entryOfIntent(audited, { id, deviceId, tool, arguments: args, startedAt }, actor),
      ),
    );
  }

  async #send(
    { id, deviceId, request, actor, ownUrl, timeoutMs, startedAt }: StartedCall,
    entry: DirectoryEntry,
  ): Promise<SettledCall> {
    const deadlineAt = startedAt + timeoutMs;
    const asked = {
      callId: id,
      tool: request.tool,
      arguments: request.arguments,
      queueDeadlineAt: deadlineAt,
      callTimeoutMs: timeoutMs,
      callDeadlineAt: deadlineAt,
    };
    const name =
      request.tool === identifyTool.name ? (await this.#deps.registry.devices.find(deviceId))?.name : undefined;
    const call = hubCall(asked, { id: deviceId, name });
    const { mayCallUserOnly, mayChangeFirmware } = actor;
    const rights = { mayCallUserOnly, mayChangeFirmware, ownUrl };
    return new Promise((resolve) => this.#deps.bus.calls.call(entry.gatewayId, { deviceId, rights, call }, resolve));
  }

  #rowOf({ id, deviceId, request, actor, startedAt }: StartedCall, outcome: CallOutcome): CallRow {
    const { tool, arguments: args } = request;
    return {
      id,
      deviceId,
      tool,
      arguments: maskArguments(tool, args),
      outcome: outcome.kind,
      result: outcome.result,
      error: outcome.error,
      startedAt,
      durationMs: this.#deps.clock.now() - startedAt,
      actor: actor.name,
      jobId: undefined,
    };
  }

  async #record(
    call: CallRow,
    { id, actor: caller }: StartedCall,
    { outcome, audited, isIntended }: CallEnd,
  ): Promise<void> {
    const { registry, logger } = this.#deps;
    const { deviceId, tool, arguments: args, startedAt, durationMs = 0, actor } = call;
    const entry = audited && (isIntended === true ? entryOfEnd(call, caller) : entryOfRefused(audited, call, caller));
    // What the device did is told all the same: an error here would read as if nothing had happened.
    const recorded = Promise.all([
      registry.calls.record({ id, deviceId, tool, arguments: args, outcome, startedAt, durationMs, actor }),
      entry && registry.audit.record(entry),
    ]).catch((error: unknown) =>
      logger.error(
        { err: error, callId: id, deviceId, tool, actor, outcome: outcome.kind },
        'a call could not be recorded',
      ),
    );
    await this.#isDoneInTime(recorded);
  }

  /** Waits for a record to be on disk, but no longer than a caller may be made to wait; one that failed is not done. */
  #isDoneInTime(recorded: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.setTimer(recordWaitMs, () => resolve(false));
      const end = (isDone: boolean): void => {
        cancel();
        resolve(isDone);
      };
      recorded.then(
        () => end(true),
        () => end(false),
      );
    });
  }
}

/** What must be on the audit trail is not done where the trail cannot take it. */
const unauditable: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: {
    code: 'OVERLOADED',
    message: 'The audit trail cannot be written now, and this call must be on it; nothing was sent.',
  },
};

const offline: CallOutcome = {
  kind: 'NOT_SENT',
  certainty: 'NEVER',
  error: { code: 'DEVICE_OFFLINE', message: 'The device is not connected.' },
};

function answerOf(call: CallRow): CallAnswer {
  const refusal = refusalOfCall(call);
  return refusal === undefined ? { call } : { call, refusal };
}

function refuseRequest({ tool, arguments: args, timeoutMs, idempotencyKey }: CallRequest): Refusal | undefined {
  if (tool === '' || tool.length > nameLengthMax)
    return refuse('INVALID', ['input', 'tool'], `A tool's name has 1 to ${nameLengthMax} characters.`);
  if (timeoutMs !== undefined && !isCallTimeout(timeoutMs)) {
    return refuse(
      'INVALID',
      ['input', 'timeoutMs'],
      `timeoutMs is a whole number from ${callTimeoutMsMin} to ${callTimeoutMsMax}.`,
    );
  }
  const invalidKey = idempotencyKey === undefined ? undefined : refuseKey(idempotencyKey, ['input', 'idempotencyKey']);
  if (invalidKey !== undefined) return invalidKey;
  if (Buffer.byteLength(JSON.stringify(args)) <= argumentsBytesMax) return undefined;
  return refuse(
    'REQUEST_TOO_LARGE',
    ['input', 'arguments'],
    `The arguments are larger than ${argumentsBytesMax} bytes of JSON.`,
  );
}

function isCallTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs >= callTimeoutMsMin && timeoutMs <= callTimeoutMsMax;
}
