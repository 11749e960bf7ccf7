/**
 * Sends sets at the pace of their desired state: claims them in PostgreSQL, calls the tool, waits
 * until the value has settled, and reads it. What happened goes back as the end of a try.
 */
import { startTry } from '@flotilla/desired-state';
import type { TryEnd } from '@flotilla/desired-state';
import { refilled, takeable, waitMs, withTaken } from '@flotilla/jobs';
import type { CallError, DeviceId } from '@flotilla/mcp';
import type { CallAnswer } from '../../calls/call-request.js';
import type { ToolCaller } from '../../calls/call-tool.js';
import { locateDevice } from '../../calls/locate-device.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveState, PendingSet } from './live-state.js';
import type { LiveStates } from './live-states.js';
import type { DeviceQueue } from './device-queue.js';
import type { ValueReader } from './value-reader.js';

/** Sets of one claim, alone and while single calls are expected: those go first. */
const claimMax = 300;
const claimMaxBeside = 20;
/** A device that a job or another desired state holds is tried again after this time, ms. */
const heldMs = 1_000;
/** From the call to the read of a readback without its own time, ms. */
const settleMsDefault = 600;
/**
 * An answer to a status tool is also a report of the device, which asks for a look. It is written
 * meanwhile, so that one look serves both. That saves 11 % of an edit's CPU, 18 % in PostgreSQL.
 */
const reportMs = 150;

export interface SenderParts {
  readonly states: LiveStates;
  readonly queue: DeviceQueue;
  readonly reader: ValueReader;
  readonly caller: Pick<ToolCaller, 'call'>;
  readonly onEnd: (deviceId: DeviceId, desiredStateId: string, end: TryEnd) => void;
  /** Its set may be claimed, and will not be sent. */
  readonly onLost: (deviceId: DeviceId) => void;
  /** Devices that were given back may have a waiting look. */
  readonly onFree: () => void;
}

export class SetSender {
  /** Devices whose call has not ended. An edit may forget the entry of a set, but not its call. */
  readonly #calling = new Set<DeviceId>();
  /** The desired states whose try on a device has not ended. Its end compares them all. */
  readonly #trying = new Map<DeviceId, string>();
  #isClaiming = false;
  #isWanted = false;
  #isStopped = false;
  #onIdle: (() => void)[] = [];
  #cancelTimer: (() => void) | undefined;
  #wakesAt = Infinity;

  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly parts: SenderParts,
  ) {}

  /** Sends what may be sent now. One claim at a time. */
  pump(): void {
    this.#isWanted = true;
    if (this.#isClaiming || this.#isStopped) return;
    this.#isClaiming = true;
    void this.#pump().finally(() => {
      this.#isClaiming = false;
      if (this.#isWanted) this.pump();
    });
  }

  /** The id of the desired state whose try on this device has not ended. */
  triedOn(deviceId: DeviceId): string | undefined {
    return this.#trying.get(deviceId);
  }

  /** Sends nothing more, and waits for the calls under way, but not for their checks. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    if (this.#calling.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.deps.clock.setTimer(graceMs, resolve);
      this.#onIdle.push(() => {
        cancel();
        resolve();
      });
    });
  }

  async #pump(): Promise<void> {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      for (const live of this.parts.states.all) {
        const chosen = this.#choose(live);
        if (chosen.size === 0) continue;
        this.#isWanted = true;
        try {
          await this.#claim(live, chosen);
        } catch (error) {
          this.#isWanted = false;
          this.deps.logger.warn({ err: error, desiredStateId: live.row.id }, 'could not claim sets; tries again');
          for (const deviceId of chosen.keys()) this.parts.onLost(deviceId);
          this.#later(heldMs);
        } finally {
          this.parts.queue.giveBack(chosen.keys());
          this.parts.onFree();
        }
      }
    }
  }

  /** Devices whose turn it is, as far as the pace allows. They are taken in the queue. */
  #choose(live: LiveState): ReadonlyMap<DeviceId, PendingSet> {
    const { clock, singleCalls } = this.deps;
    const { maxInFlight, perMinute } = live.row;
    const now = clock.now();
    const most = Math.min(singleCalls.areExpected ? claimMaxBeside : claimMax, maxInFlight - live.inFlight);
    const room = perMinute === undefined ? most : this.#paced(live, perMinute, Math.min(most, live.pendingSets.size));
    const chosen = new Map<DeviceId, PendingSet>();
    let waitUntil = Infinity;
    for (const [deviceId, pending] of live.pendingSets) {
      if (chosen.size >= room) break;
      if (this.#calling.has(deviceId)) continue;
      if (pending.notBefore > now) waitUntil = Math.min(waitUntil, pending.notBefore);
      else if (this.parts.queue.takeOne(deviceId)) chosen.set(deviceId, pending);
    }
    if (waitUntil < Infinity) this.#later(waitUntil - now);
    return chosen;
  }

  #paced(live: LiveState, perMinute: number, wanted: number): number {
    live.bucket = refilled(live.bucket, perMinute, this.deps.clock.now());
    if (wanted <= 0) return 0;
    const room = takeable(live.bucket, perMinute, wanted);
    if (room < wanted) this.#later(Math.max(1, waitMs(live.bucket, perMinute)));
    return room;
  }

  async #claim(live: LiveState, chosen: ReadonlyMap<DeviceId, PendingSet>): Promise<void> {
    const { clock, lease, registry } = this.deps;
    const now = clock.now();
    const targets = [...chosen.values()].map(({ generation, row }) => ({
      fence: live.owned.fence,
      row: { ...row, ...startTry(generation.wanted, row, now) },
    }));
    const claimed = await registry.desiredStateQueue.claim(lease.id, targets);
    if (live.row.perMinute !== undefined) live.bucket = withTaken(live.bucket, claimed.length);
    const sent = new Set(claimed.map(({ deviceId }) => deviceId));
    for (const [deviceId, pending] of chosen) {
      if (!sent.has(deviceId)) live.pendingSets.set(deviceId, { ...pending, notBefore: now + heldMs });
      else if (live.pendingSets.delete(deviceId)) this.#send(live, deviceId, pending);
    }
    if (sent.size < chosen.size) this.#later(heldMs);
  }

  #send(live: LiveState, deviceId: DeviceId, pending: PendingSet): void {
    const { caller, onEnd } = this.parts;
    const { tool, arguments: args } = pending.generation.stored.plan;
    live.inFlight += 1;
    this.#calling.add(deviceId);
    this.#trying.set(deviceId, live.row.id);
    const end = (result: TryEnd): void => {
      // Another desired state has the device if this one was deleted during its try.
      if (this.#trying.get(deviceId) === live.row.id) this.#trying.delete(deviceId);
      onEnd(deviceId, live.row.id, result);
    };
    void caller
      .call({ deviceId, tool, arguments: args }, live.actor)
      .catch((error: unknown): CallAnswer => ({ refusal: refusedBy(error) }))
      .then((answer) => {
        live.inFlight -= 1;
        this.#endCall(deviceId);
        this.deps.observe?.setEnded(answer.call?.outcome ?? 'REFUSED');
        this.#afterCall(live, deviceId, pending, answer, end);
        this.pump();
      });
  }

  #afterCall(
    live: LiveState,
    deviceId: DeviceId,
    { generation }: PendingSet,
    { call, refusal }: CallAnswer,
    end: (end: TryEnd) => void,
  ): void {
    const error: CallError | undefined = call?.error ?? (refusal && { code: 'OVERLOADED', message: refusal.message });
    if (call === undefined || call.outcome === 'REJECTED' || call.outcome === 'NOT_SENT')
      return end({ kind: 'FAILED', error: error ?? unexplained, isSent: false });
    if (call.outcome === 'FAILED') return end({ kind: 'FAILED', error: error ?? unexplained, isSent: true });
    const settleMs = generation.stored.readback.settleMs ?? settleMsDefault;
    const { clock } = this.deps;
    clock.setTimer(settleMs, () => {
      void this.#readBack(live, deviceId, generation, error).then((result) =>
        clock.setTimer(reportMs, () => end(result)),
      );
    });
  }

  /** Without an answer, or without a value, the try has failed. */
  async #readBack(
    live: LiveState,
    deviceId: DeviceId,
    generation: PendingSet['generation'],
    callError: CallError | undefined,
  ): Promise<TryEnd> {
    const found = await locateDevice(this.deps.bus.directory, deviceId).catch(() => undefined);
    const entry = found?.entry;
    if (entry === undefined) return { kind: 'FAILED', error: callError ?? away, isSent: true };
    return new Promise((resolve) =>
      this.parts.reader.read(entry, generation, live.actor.mayCallUserOnly, (read) =>
        resolve(read.isRead ? { kind: 'READ' } : { kind: 'FAILED', error: callError ?? read.error, isSent: true }),
      ),
    );
  }

  #endCall(deviceId: DeviceId): void {
    this.#calling.delete(deviceId);
    if (this.#calling.size === 0) for (const wake of this.#onIdle.splice(0)) wake();
  }

  /** The earliest of all waits decides: another desired state may wait longer for its pace. */
  #later(delayMs: number): void {
    if (this.#isStopped) return;
    const at = this.deps.clock.now() + delayMs;
    if (this.#cancelTimer !== undefined && this.#wakesAt <= at) return;
    this.#cancelTimer?.();
    this.#wakesAt = at;
    this.#cancelTimer = this.deps.clock.setTimer(delayMs, () => {
      this.#cancelTimer = undefined;
      this.pump();
    });
  }
}

const unexplained: CallError = { code: 'NOT_VERIFIED', message: 'The call ended without a reason.' };
const away: CallError = {
  code: 'SESSION_CLOSED',
  message: 'The device disconnected before its value could be read.',
};

function refusedBy(error: unknown): NonNullable<CallAnswer['refusal']> {
  return { code: 'UNAVAILABLE', path: [], message: error instanceof Error ? error.message : 'The call failed.' };
}
