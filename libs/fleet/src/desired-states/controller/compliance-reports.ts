/** Reports changed entries: events of devices, notifications of summaries, and convergence. */
import { complianceEventOf } from '@flotilla/desired-state';
import { maskSecrets } from '@flotilla/mcp';
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
    for (const each of changed) this.#writeEvent(each);
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

  #writeEvent({ live, device, from, to }: Compared): void {
    const type = to && complianceEventOf(from, to);
    if (type === undefined || to === undefined) return;
    const { bus, clock, registry } = this.deps;
    const { id, name } = live.row;
    const { argument } = live.row.readback;
    const data = {
      ...{ desiredStateId: id, name, state: to.state, generation: to.observedGeneration },
      desired: live.row.arguments[argument],
      reported: maskSecrets({ [argument]: to.reported })[argument],
    };
    bus.feed.publish('event', registry.events.append({ type, deviceId: device.deviceId, at: clock.now(), data }));
  }
}
