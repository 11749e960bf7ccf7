/**
 * Notifies the worker of calls by other callers to tools that desired states set. Costs nothing for
 * all other tools.
 */
import type { EventFeed } from '@flotilla/bus';
import type { CallOutcome, DeviceId } from '@flotilla/mcp';
import type { Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';

/** How long an outdated list applies at most, ms. The sweep finds what was missed. */
const rememberedMs = 5_000;

interface WatchedToolsDeps {
  readonly registry: { readonly desiredStateStore: Pick<Registry['desiredStateStore'], 'toolsInUse'> };
  readonly bus: { readonly feed: Pick<EventFeed, 'publish' | 'subscribe'> };
  readonly clock: Pick<Clock, 'now'>;
}

export class WatchedTools {
  #tools: ReadonlySet<string> = new Set();
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(private readonly deps: WatchedToolsDeps) {
    deps.bus.feed.subscribe('desiredState', () => (this.#readAt = -Infinity));
  }

  /** A call has ended. */
  called(deviceId: DeviceId, tool: string, certainty: CallOutcome['certainty']): void {
    if (certainty === 'NEVER') return;
    const publish = (): void => {
      if (this.#tools.has(tool)) this.deps.bus.feed.publish('called', { deviceId, tool });
    };
    if (this.deps.clock.now() - this.#readAt < rememberedMs) publish();
    else void this.#read().then(publish);
  }

  async #read(): Promise<void> {
    this.#reading ??= this.deps.registry.desiredStateStore
      .toolsInUse()
      .then(
        (tools) => {
          this.#tools = new Set(tools);
          this.#readAt = this.deps.clock.now();
        },
        () => undefined,
      )
      .finally(() => (this.#reading = undefined));
    await this.#reading;
  }
}
