/** Reports changed entries: events of devices, notifications of summaries, and convergence. */
import { complianceEventOf } from '@flotilla/desired-state';
import { maskReported } from '@flotilla/jobs';
import { MASK } from '@flotilla/mcp';
import { writeEvent } from '../../write-event.js';
import type { Compared } from './compare-devices.js';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import { watchConvergence } from './convergence-watch.js';
import type { TimerSet } from './timer-set.js';

/** Least time between two notifications of one desired state, ms. */
const notifyEveryMs = 500;

export class ComplianceReports {
  readonly #waiting = new Set<string>();

  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly timers: TimerSet,
  ) {}

  async report(changed: readonly Compared[]): Promise<void> {
    await this.#writeEvents(changed);
    for (const live of new Set(changed.map((each) => each.live))) {
      this.notify(live.row.id);
      await watchConvergence(this.deps, live);
    }
  }

  /** Publishes that the summary has changed, soon. */
  notify(id: string): void {
    if (this.#waiting.has(id)) return;
    this.#waiting.add(id);
    this.timers.after(notifyEveryMs, () => {
      this.#waiting.delete(id);
      this.deps.bus.feed.publish('desiredState', { id });
    });
  }

  /** Readers of events and webhooks may not call user-only tools, so none gets their arguments. */
  async #writeEvents(changed: readonly Compared[]): Promise<void> {
    const reported = changed.flatMap(({ live, device, from, to }) => {
      const type = to && complianceEventOf(from, to);
      return to === undefined || type === undefined ? [] : [{ type, row: live.row, deviceId: device.deviceId, to }];
    });
    if (reported.length === 0) return;
    const tools = [...new Set(reported.map(({ row }) => row.tool))];
    // The entries are written, so their events must not be lost with a failed look-up.
    const userOnly = await this.deps.registry.toolSets.userOnlyAmong(tools).catch(() => new Set(tools));
    for (const { type, row, deviceId, to } of reported) {
      const { id, name, readback, tool } = row;
      const data = {
        desiredStateId: id,
        name,
        state: to.state,
        generation: to.observedGeneration,
        desired: userOnly.has(tool) ? MASK : row.arguments[readback.argument],
        reported: maskReported(readback, to.reported),
      };
      writeEvent(this.deps, type, deviceId, data);
    }
  }
}
