/** Looks at all devices of a desired state, page by page. A newer pass ends the former one. */
import { freshMs } from '@flotilla/desired-state';
import type { DeviceId } from '@flotilla/mcp';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveState } from './live-state.js';
import type { LiveChange } from './live-states.js';
import { plainLook } from './look.js';
import type { Look } from './look.js';
import type { DeviceQueue } from './device-queue.js';
import type { TimerSet } from './timer-set.js';

/** Devices of one statement. */
const pageMax = 500;
/** A pass pauses while more devices than this wait for a look. */
const waitingMax = 2_000;
/** After a failed statement, ms. */
const retryMs = 1_000;

interface PassParts {
  readonly queue: DeviceQueue;
  readonly timers: TimerSet;
  readonly look: (deviceId: DeviceId, look: Look) => void;
  /** Each device was looked at once. */
  readonly onEnd: (live: LiveState) => Promise<void>;
}

export class FleetPasses {
  readonly #turns = new Map<string, symbol>();
  #hasEnded = false;

  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly parts: PassParts,
  ) {}

  start({ state, kind }: LiveChange): void {
    if (this.#hasEnded) return;
    const { id } = state.row;
    const turn = Symbol(id);
    this.#turns.set(id, turn);
    const isCurrent = (): boolean => this.#turns.get(id) === turn;
    void this.#walk(state, kind, isCurrent).catch((error: unknown) => {
      this.deps.logger.warn({ err: error, desiredStateId: id }, 'could not list devices; tries again');
      this.parts.timers.after(retryMs, () => {
        if (isCurrent()) this.start({ state, kind });
      });
    });
  }

  end(): void {
    this.#hasEnded = true;
    this.#turns.clear();
  }

  async #walk(live: LiveState, kind: LiveChange['kind'], isCurrent: () => boolean): Promise<void> {
    const { clock, registry } = this.deps;
    const { look, onEnd, queue } = this.parts;
    const whole: Look = kind === 'EDITED' ? { ...plainLook, freshSince: clock.now() - freshMs } : plainLook;
    // A set of a former owner may have had its effect.
    const unsettled: Look = { ...plainLook, freshSince: clock.now() };
    let after = '';
    for (;;) {
      const ids = await registry.desiredStateQueue.covered(live.owned, after, pageMax);
      const last = ids.at(-1);
      const applying = kind === 'ADOPTED' ? await this.#applying(live, after, last) : [];
      if (!isCurrent()) return;
      for (const deviceId of ids) look(deviceId, whole);
      for (const deviceId of applying) look(deviceId, unsettled);
      if (ids.length < pageMax || last === undefined) {
        await queue.quiet(ids);
        break;
      }
      after = last;
      if (queue.size > waitingMax) await queue.quiet(ids);
    }
    if (isCurrent()) await onEnd(live);
  }

  async #applying(live: LiveState, after: string, upTo: string | undefined): Promise<readonly DeviceId[]> {
    const ids = await this.deps.registry.desiredStateQueue.applying([live.row.id], after, pageMax);
    return ids.filter((deviceId) => upTo === undefined || deviceId <= upTo);
  }
}
