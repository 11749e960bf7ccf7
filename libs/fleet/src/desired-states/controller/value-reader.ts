/**
 * Reads values of devices with ordinary calls of the tool that the readback names. Like the checks
 * of jobs, they leave no record. At most one per session and tool is under way.
 */
import { readbackValue } from '@flotilla/jobs';
import { deviceOffline } from '@flotilla/mcp';
import type { CallError, CallOutcome } from '@flotilla/mcp';
import type { DeviceFacts } from '@flotilla/registry';
import { readValue } from '../../calls/read-value.js';
import type { PolicyCache } from '../../policies/policy-cache.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveGeneration } from './live-state.js';
import type { FailedRead } from './look.js';
import type { RecentValues } from './recent-values.js';

/** Reads under way in this process. More wait. */
const readsMax = 500;

type ReadableDevice = Pick<DeviceFacts, 'deviceId' | 'epoch' | 'gatewayId'>;
type ReadEnd = { readonly isRead: true } | ({ readonly isRead: false } & FailedRead);
type OnRead = (end: ReadEnd) => void;

interface WaitingRead {
  readonly device: ReadableDevice;
  readonly generation: LiveGeneration;
  readonly mayCallUserOnly: boolean;
}

export class ValueReader {
  readonly #waiting: { readonly key: string; readonly read: WaitingRead }[] = [];
  readonly #listeners = new Map<string, OnRead[]>();
  /** By session and tool: all properties of the answer that readers want. */
  readonly #wanted = new Map<string, Set<LiveGeneration>>();
  #underWay = 0;
  #isStopped = false;

  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly policies: PolicyCache,
    private readonly values: RecentValues,
  ) {}

  /** `onRead` runs once, after the value is in `values` or could not be read. */
  read(device: ReadableDevice, generation: LiveGeneration, mayCallUserOnly: boolean, onRead: OnRead): void {
    const key = keyOf(device, generation.stored.readback.tool);
    const listeners = this.#listeners.get(key);
    this.#wanted.set(key, (this.#wanted.get(key) ?? new Set()).add(generation));
    if (listeners !== undefined) {
      listeners.push(onRead);
      return;
    }
    this.#listeners.set(key, [onRead]);
    this.#waiting.push({ key, read: { device, generation, mayCallUserOnly } });
    this.#next();
  }

  isReading(device: ReadableDevice, tool: string): boolean {
    return this.#listeners.has(keyOf(device, tool));
  }

  stop(): void {
    this.#isStopped = true;
    this.#waiting.length = 0;
    this.#listeners.clear();
  }

  #next(): void {
    while (this.#underWay < readsMax && !this.#isStopped) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underWay += 1;
      void this.#call(next.read)
        .catch((error: unknown) => failedBy(error))
        .then((outcome) => this.#end(next.key, next.read, outcome));
    }
  }

  async #call({ device, generation, mayCallUserOnly }: WaitingRead): Promise<CallOutcome> {
    const { tool } = generation.stored.readback;
    const { callTimeoutMs } = await this.policies.policyOf(tool);
    const { deviceId, epoch, gatewayId } = device;
    if (gatewayId === undefined) return deviceOffline;
    const read = { tool, callTimeoutMs, mayCallUserOnly };
    return new Promise((resolve) => readValue(this.deps, { deviceId, epoch, gatewayId }, read, resolve));
  }

  #end(key: string, { device }: WaitingRead, { kind, result, error, certainty }: CallOutcome): void {
    this.#underWay -= 1;
    const listeners = this.#listeners.get(key) ?? [];
    const wanted = this.#wanted.get(key) ?? new Set();
    this.#listeners.delete(key);
    this.#wanted.delete(key);
    const at = this.deps.clock.now();
    let missing: FailedRead | undefined;
    for (const { property, stored } of wanted) {
      const value = kind === 'SUCCEEDED' && result ? readbackValue(result, stored.readback.path) : undefined;
      if (value !== undefined) this.values.set(device.deviceId, property, { value, at });
      else
        missing ??= { error: error ?? nothingAt(stored.readback), isSent: certainty !== 'NEVER', epoch: device.epoch };
    }
    for (const listener of listeners)
      listener(missing === undefined ? { isRead: true } : { isRead: false, ...missing });
    this.#next();
  }
}

function keyOf({ deviceId, epoch }: ReadableDevice, tool: string): string {
  return `${deviceId} ${epoch} ${tool}`;
}

function nothingAt({ tool, path }: LiveGeneration['stored']['readback']): CallError {
  return { code: 'NOT_VERIFIED', message: `"${tool}" reported no value at "${path}".` };
}

function failedBy(error: unknown): CallOutcome {
  const message = error instanceof Error ? error.message : 'The read failed.';
  return { kind: 'UNKNOWN', certainty: 'MAYBE', error: { code: 'NOT_VERIFIED', message } };
}
