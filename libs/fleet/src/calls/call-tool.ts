/** Calls a tool of one device and records the end of the call, even if the call was refused. */
import type { Bus, CallTracer, DirectoryEntry } from '@flotilla/bus';
import { applyFailureText } from '@flotilla/jobs';
import { deviceOffline, hubCall, identifyTool, notSent } from '@flotilla/mcp';
import type { CallError, CallId, DeviceId } from '@flotilla/mcp';
import type { CallRow, CallStore, Registry, ToolSet } from '@flotilla/registry';
import type { Clock, SettledCall } from '@flotilla/session';
import { ownerOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { approvalWindowMs, isCounted } from '../approvals/approval-rules.js';
import type { ApprovalRules } from '../approvals/approval-rules.js';
import type { FleetLogger } from '../fleet-logger.js';
import { requestHash } from '../idempotency/request-hash.js';
import { newId } from '../new-id.js';
import { noSuchDevice, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { refuseMaskedSecrets } from '../stored-secrets.js';
import { auditedActionOf } from './call-audit.js';
import { CallRecords } from './call-records.js';
import { refusalOfCall } from './call-refusal.js';
import { refuseRequest } from './call-request.js';
import type { CallAnswer, CallRequest } from './call-request.js';
import { deliverCall } from './deliver-call.js';
import { KeyedCalls } from './keyed-calls.js';
import { locateDevice } from './locate-device.js';
import type { PolicyCache } from '../policies/policy-cache.js';
import type { ProcessWatch } from './process-watch.js';
import type { SingleCalls } from './single-calls.js';
import type { CallEnd, StartedCall } from './started-call.js';
import type { CallRules } from './call-rules.js';
import { tracedDelivery } from './traced-call.js';

export interface CallToolDeps {
  readonly registry: Pick<Registry, 'audit' | 'calls' | 'devices' | 'disruptiveCalls' | 'toolSets' | 'viewFor'>;
  readonly bus: Pick<Bus, 'calls' | 'directory'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly callRules: CallRules;
  readonly policies: PolicyCache;
  readonly singleCalls: Pick<SingleCalls, 'during'>;
  readonly approvals: ApprovalRules;
  /** Reports processes that died, in a hub of several processes. */
  readonly processes?: Pick<ProcessWatch, 'add'>;
  readonly tracer?: CallTracer | undefined;
}

export class ToolCaller {
  readonly #keyed: KeyedCalls;
  readonly #records: CallRecords;

  constructor(private readonly deps: CallToolDeps) {
    this.#keyed = new KeyedCalls(deps.registry.calls, deps.clock, deps.processes);
    this.#records = new CallRecords(deps);
  }

  /** Waits for the end of the call. Without a device in the access scope there is no record. */
  call(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    return this.deps.singleCalls.during(() => this.#begin(request, actor, ownUrl));
  }

  /** Gives the call an id and a deadline, finds its device within the access scope, and runs it. */
  async #begin(request: CallRequest, actor: Actor, ownUrl?: string): Promise<CallAnswer> {
    const { registry, clock, policies } = this.deps;
    const refusal = refuseRequest(request);
    if (refusal !== undefined) return { refusal };
    const startedAt = clock.now();
    const id = newId(startedAt) as CallId;
    const found = await this.#find(request, actor);
    if ('code' in found) return (await this.#firstAnswer(request, actor)) ?? { refusal: found };
    const masked = await refuseMaskedSecrets(registry.toolSets, request, actor, ['input', 'arguments']);
    if (masked !== undefined) return { refusal: masked };
    const policy = await policies.policyOf(request.tool);
    const timeoutMs = request.timeoutMs ?? policy.callTimeoutMs;
    const { deviceId, entry, toolSetHash } = found;
    const started = { id, deviceId, toolSetHash, request, actor, ownUrl, policy, timeoutMs, startedAt };
    return request.idempotencyKey === undefined
      ? this.#runAndRecord(started, entry)
      : this.#runOnce(started, entry, request.idempotencyKey);
  }

  /** Why no new call can begin, or the device with its session. */
  async #find(request: CallRequest, actor: Actor): Promise<Refusal | FoundDevice> {
    const { registry, bus } = this.deps;
    if (registry.calls.isOverloaded) return overloaded;
    const { entry, refusal } = await locateDevice(bus.directory, request.deviceId as DeviceId);
    if (refusal !== undefined) return refusal;
    if (entry !== undefined && actor.devices === undefined)
      return { entry, deviceId: entry.deviceId, toolSetHash: entry.toolSetHash };
    const device = await registry.viewFor(actor).devices.find(request.deviceId);
    if (device === undefined) return noSuchDevice(request.deviceId, ['input', 'deviceId']);
    return { entry, deviceId: device.id, toolSetHash: entry === undefined ? device.toolSetHash : entry.toolSetHash };
  }

  /** The answer of the first call with this key; undefined for a new key or none. */
  async #firstAnswer(request: CallRequest, actor: Actor): Promise<CallAnswer | undefined> {
    const { idempotencyKey: key, deviceId, timeoutMs, tool } = request;
    if (key === undefined) return undefined;
    const { registry, policies } = this.deps;
    const used = { principal: actor.id, key, requestHash: hashOf(deviceId, request) };
    const earlier = await registry.calls.earlierUse(used);
    return earlier && this.#repeated(earlier, timeoutMs ?? (await policies.policyOf(tool)).callTimeoutMs);
  }

  /** Runs the first call with this key; a repetition gets its answer. */
  async #runOnce(started: StartedCall, entry: DirectoryEntry | undefined, key: string): Promise<CallAnswer> {
    const { id, deviceId, request, actor, startedAt, timeoutMs } = started;
    const { tool, arguments: args } = request;
    const claim = await this.deps.registry.calls.claimKey({
      principal: actor.id,
      actor: actor.name,
      key,
      callId: id,
      deviceId,
      tool,
      arguments: args,
      startedAt,
      requestHash: hashOf(deviceId, request),
    });
    return claim.kind === 'claimed'
      ? this.#keyed.hold(id, this.#runClaimed(started, entry))
      : this.#repeated(claim, timeoutMs);
  }

  async #repeated(earlier: EarlierUse, timeoutMs: number): Promise<CallAnswer> {
    if (earlier.kind === 'conflict') return { refusal: keyReused };
    return answerOf(await this.#keyed.endOf(earlier.call, { timeoutMs, processId: earlier.processId }));
  }

  /** A claimed key gets an outcome, also if PostgreSQL fails before anything is sent. */
  async #runClaimed(started: StartedCall, entry: DirectoryEntry | undefined): Promise<CallAnswer> {
    const { id, deviceId } = started;
    let isDelivered = false;
    const checked = this.#authoriseAndDeliver(started, entry, () => (isDelivered = true));
    const end = await checked.catch((err: unknown): CallEnd => {
      if (isDelivered) throw err;
      this.deps.logger.error({ err, callId: id, deviceId }, 'a call could not be checked and was not sent');
      return { outcome: unchecked };
    });
    return answerOf(await this.#records.writeEnd(started, end));
  }

  async #runAndRecord(started: StartedCall, entry: DirectoryEntry | undefined): Promise<CallAnswer> {
    return answerOf(await this.#records.writeEnd(started, await this.#authoriseAndDeliver(started, entry)));
  }

  /**
   * Checks the call, writes the intent of an audited one, delivers it, and waits for its outcome.
   * `onDeliver` runs before anything can be sent.
   */
  async #authoriseAndDeliver(
    started: StartedCall,
    entry: DirectoryEntry | undefined,
    onDeliver: () => void = () => undefined,
  ): Promise<CallEnd> {
    const { toolSetHash, request, policy } = started;
    const { approvals, registry } = this.deps;
    const toolSet = toolSetHash === undefined ? undefined : await registry.toolSets.get(toolSetHash);
    const audited = auditedActionOf(toolSet, request.tool, policy);
    if (entry === undefined) return { outcome: deviceOffline, audited };
    const refused = this.#refuseByRules(started, toolSet);
    if (refused !== undefined) return { outcome: rejectedBy(refused), audited };
    // Before the limit: a call that is not sent takes no place of it.
    if (audited !== undefined && registry.audit.isOverloaded) return { outcome: unauditable };
    const isLimited = isCounted(approvals, { tool: request.tool, policy });
    const unapproved = isLimited ? await this.#refuseUnapproved(started) : undefined;
    if (unapproved !== undefined) return { outcome: rejectedBy(unapproved), audited };
    if (audited !== undefined && !(await this.#records.writeIntent(started, audited)))
      return { outcome: unauditable, audited, isIntended: true };
    const { outcome } = await this.#deliver(started, entry, onDeliver);
    return { outcome: applyFailureText(outcome, policy.failureText), audited, isIntended: audited !== undefined };
  }

  #refuseByRules({ request, actor, ownUrl }: StartedCall, toolSet: ToolSet | undefined): CallError | undefined {
    const { callRules } = this.deps;
    const checked = { tool: request.tool, arguments: request.arguments, mayCallUserOnly: actor.mayCallUserOnly };
    return (callRules.refuseActor(request.tool, actor) ?? callRules.refuse(toolSet, checked, ownUrl))?.error;
  }

  /** With approvals, one person may disrupt only a few devices by single calls. */
  async #refuseUnapproved(started: StartedCall): Promise<CallError | undefined> {
    const { deviceId, request, actor, startedAt } = started;
    const { approvals, registry } = this.deps;
    const bounds = { devicesMax: approvals.callDevicesMax, windowMs: approvalWindowMs };
    const isTaken = await registry.disruptiveCalls.take({ owner: ownerOf(actor), deviceId, at: startedAt }, bounds);
    if (isTaken) return undefined;
    const message =
      `"${request.tool}" disrupts devices. ` +
      `One person may call such tools on ${bounds.devicesMax} devices in an hour. ` +
      'Nothing was sent. Use createJob, which waits for the approval of another person, or try again later.';
    return { code: 'APPROVAL_REQUIRED', message };
  }

  /** Hands the call to the gateway that holds the session of the device, and waits for its end. */
  async #deliver(started: StartedCall, entry: DirectoryEntry, onDeliver: () => void): Promise<SettledCall> {
    const { id, deviceId, request, actor, ownUrl, timeoutMs, startedAt } = started;
    const { tool, arguments: args } = request;
    const deadlineAt = startedAt + timeoutMs;
    const deadlines = { queueDeadlineAt: deadlineAt, callTimeoutMs: timeoutMs, callDeadlineAt: deadlineAt };
    const { registry } = this.deps;
    const name = tool === identifyTool.name ? (await registry.devices.find(deviceId))?.name : undefined;
    const call = hubCall({ callId: id, tool, arguments: args, ...deadlines }, { id: deviceId, name });
    const { mayCallUserOnly, mayChangeFirmware } = actor;
    const rights = { mayCallUserOnly, mayChangeFirmware, ownUrl };
    const { trace } = request;
    const routed = { deviceId, rights, call, ...(trace !== undefined && { trace }) };
    onDeliver();
    return tracedDelivery(this.deps.tracer, routed, (traced) => deliverCall(this.deps, entry, traced));
  }
}

type FoundDevice = Pick<StartedCall, 'deviceId' | 'toolSetHash'> & { readonly entry: DirectoryEntry | undefined };
type EarlierUse = NonNullable<Awaited<ReturnType<CallStore['earlierUse']>>>;

function hashOf(deviceId: string, { tool, arguments: args, timeoutMs }: CallRequest): string {
  return requestHash({ deviceId, tool, args, timeoutMs });
}

const overloaded = refuse(
  'OVERLOADED',
  [],
  'The hub cannot write call records as fast as calls arrive. Nothing was sent. Try again later.',
);

const keyReused = refuse('IDEMPOTENCY_KEY_REUSED', ['input', 'idempotencyKey'], 'The key was used for another call.');

/** A call that must be audited is not sent while the audit trail cannot be written. */
const unauditable = notSent(
  'OVERLOADED',
  'The audit trail cannot be written now, and this call must be in it. Nothing was sent. ' +
    'Try again later with another idempotency key.',
);

const unchecked = notSent(
  'UNAVAILABLE',
  'PostgreSQL failed while the call was checked. Nothing was sent. Try again with another idempotency key.',
);

function answerOf(call: CallRow): CallAnswer {
  const refusal = refusalOfCall(call);
  return refusal === undefined ? { call } : { call, refusal };
}

function rejectedBy(error: CallError): CallEnd['outcome'] {
  return { kind: 'REJECTED', certainty: 'NEVER', error };
}
