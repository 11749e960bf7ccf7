/**
 * Compares the devices that wait for a look, in batches: writes the entries that changed, keeps
 * the sets that have to be sent, and reads the values that are missing.
 */
import type { DeviceId } from '@flotilla/mcp';
import { DeviceComparison, isChanged } from './compare-devices.js';
import type { Compared } from './compare-devices.js';
import type { ComplianceReports } from './compliance-reports.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { DeviceQueue } from './device-queue.js';
import { keyOf } from './live-states.js';
import type { LiveStates } from './live-states.js';
import { plainLook } from './look.js';
import type { Look } from './look.js';
import type { RecentValues } from './recent-values.js';
import type { TimerSet } from './timer-set.js';
import type { ValueReader } from './value-reader.js';

/** Devices of one comparison, and comparisons side by side. */
export const batchMax = 500;
const batchesMax = 2;
/** Looks gather for so long, ms. */
const gatherMs = 30;
/** After a failed comparison, ms. */
const retryMs = 1_000;

interface ComparisonParts {
  readonly states: LiveStates;
  readonly queue: DeviceQueue;
  readonly values: RecentValues;
  readonly reader: ValueReader;
  readonly reports: ComplianceReports;
  readonly timers: TimerSet;
  /** The id of the desired state whose try on the device has not ended. */
  readonly triedOn: (deviceId: DeviceId) => string | undefined;
  /** An entry was not written, as another process owns its desired state now. */
  readonly onStale: () => void;
  /** Sets may wait to be sent. */
  readonly onCompared: () => void;
}

export class ComparisonLoop {
  readonly #comparison: DeviceComparison;
  #batches = 0;
  #isGathering = false;
  #isStopped = false;

  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly parts: ComparisonParts,
  ) {
    this.#comparison = new DeviceComparison(deps, parts.states, parts.values, parts.triedOn);
  }

  look(deviceId: DeviceId, look: Look): void {
    if (this.#isStopped || this.parts.states.all.length === 0) return;
    this.parts.queue.add(deviceId, look);
    this.start();
  }

  /** Compares what waits, after the looks of a moment have gathered. */
  start(): void {
    const { queue, timers } = this.parts;
    if (this.#isGathering || this.#isStopped || queue.size === 0) return;
    this.#isGathering = true;
    timers.after(gatherMs, () => {
      this.#isGathering = false;
      this.#compareNext();
    });
  }

  /** Comparisons under way write nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.parts.queue.clear();
  }

  #compareNext(): void {
    const { queue, onCompared } = this.parts;
    while (this.#batches < batchesMax && !this.#isStopped) {
      const looks = queue.take(batchMax);
      if (looks.size === 0) return;
      this.#batches += 1;
      void this.#compare(looks).finally(() => {
        this.#batches -= 1;
        queue.giveBack(looks.keys());
        if (queue.size > 0) this.start();
        onCompared();
      });
    }
  }

  async #compare(looks: ReadonlyMap<DeviceId, Look>): Promise<void> {
    const { states, reports, timers, onStale } = this.parts;
    try {
      const compared = await this.#comparison.of(looks);
      if (this.#isStopped) return;
      const changed = compared.filter(isChanged);
      const keys = await states.write(changed);
      const valid = compared.filter((each) => !isChanged(each) || keys.has(keyOf(each)));
      if (valid.length < compared.length) onStale();
      for (const each of valid) this.#follow(each);
      await reports.report(changed.filter((each) => keys.has(keyOf(each))));
    } catch (error) {
      const details = { err: error, devices: looks.size };
      this.deps.logger.warn(details, 'could not compare devices with desired states; tries again');
      timers.after(retryMs, () => {
        for (const [deviceId, look] of looks) this.look(deviceId, look);
      });
    }
  }

  #follow({ live, device, generation, to, next, cause }: Compared): void {
    const { reader } = this.parts;
    const { deviceId } = device;
    if (next !== 'set' || generation === undefined || to === undefined) live.pendingSets.delete(deviceId);
    else
      live.pendingSets.set(deviceId, {
        generation,
        row: to,
        notBefore: live.pendingSets.get(deviceId)?.notBefore ?? 0,
      });
    if (next !== 'read' || generation === undefined || this.#isStopped) return;
    const { tool } = generation.stored.readback;
    if (reader.isReading(device, tool) && cause === 'CHANGE') return;
    reader.read(device, generation, live.actor.mayCallUserOnly, (end) =>
      this.look(deviceId, { ...plainLook, cause, ...(!end.isRead && { failedReads: new Map([[tool, end]]) }) }),
    );
  }
}
