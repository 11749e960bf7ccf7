/**
 * What a roll-out sends to connected devices: each gets its own address, which expires, and only
 * while a download is free.
 */
import type { AttemptEnd } from '@flotilla/jobs';
import type { CallError, DeviceId } from '@flotilla/mcp';
import type { ClaimedTarget, RolloutGrant, RolloutLimits, RolloutStore } from '@flotilla/registry';
import type { RunContext } from '../jobs/engine/run-context.js';

export interface RolloutDeps {
  readonly store: RolloutStore;
  readonly limits: RolloutLimits;
  /** The signed address of a granted download; undefined where the hub has no public address. */
  readonly urlOf: (downloadId: string, expiresAt: number) => string | undefined;
}

export type ImageSend =
  | { readonly kind: 'send'; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly kind: 'keep'; readonly to: AttemptEnd };

/** A target that found no place rests, so that a full hub is not asked all the time, ms. */
const fullRestMs = 1_000;

export class ImageSends {
  constructor(
    private readonly context: RunContext,
    private readonly deps: RolloutDeps,
  ) {}

  /** How many downloads are free now. */
  room(): Promise<number> {
    const { clock } = this.context.deps;
    return this.context.persist('count free downloads', () =>
      this.deps.store.room(this.context.jobId, clock.now(), this.deps.limits),
    );
  }

  /** Grants downloads to these targets, and says what to send to each. */
  async prepare(targets: readonly ClaimedTarget[]): Promise<ReadonlyMap<DeviceId, ImageSend>> {
    const now = this.context.deps.clock.now();
    const ids = targets.map(({ deviceId }) => deviceId);
    const grants = await this.context.persist('grant downloads', () =>
      this.deps.store.grant(this.context.fence, ids, now, this.deps.limits),
    );
    return new Map(ids.map((deviceId) => [deviceId, this.#sendOf(grants.get(deviceId) ?? { kind: 'full' }, now)]));
  }

  #sendOf(grant: RolloutGrant, now: number): ImageSend {
    switch (grant.kind) {
      case 'granted': {
        const url = this.deps.urlOf(grant.downloadId, grant.expiresAt);
        if (url === undefined)
          return ended({
            code: 'URL_FORBIDDEN',
            message: 'The hub does not know its own address: set FLOTILLA_PUBLIC_URL.',
          });
        return { kind: 'send', arguments: { url } };
      }
      case 'full':
        return { kind: 'keep', to: { kind: 'ready', notBefore: now + fullRestMs } };
      case 'refused':
        return ended(grant.error);
    }
  }
}

function ended(error: CallError): ImageSend {
  return {
    kind: 'keep',
    to: { kind: 'decided', outcome: outcomeOf(error), certainty: 'NEVER', error, result: undefined },
  };
}

function outcomeOf({ code }: CallError): 'NO_CHANGE' | 'VERIFY_FAILED' | 'REJECTED' {
  if (code === 'ALREADY_CURRENT') return 'NO_CHANGE';
  return code === 'DOWNLOADS_IN_VAIN' ? 'VERIFY_FAILED' : 'REJECTED';
}
