/**
 * Answers devices at their OTA check: whether a roll-out has an image for them. Implements the
 * gateway's `UpdateOffer`.
 */
import { verificationDeadlines } from '@flotilla/jobs';
import type { VerificationTimes } from '@flotilla/jobs';
import type { OtaContact, RolloutLimits, RolloutStore } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { Bus } from '@flotilla/bus';

interface RolloutOffersDeps {
  readonly store: RolloutStore;
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: RolloutLimits;
  readonly verification: VerificationTimes;
}

export interface RolloutOffer {
  readonly version: string;
  readonly downloadId: string;
  readonly expiresAt: number;
}

/**
 * How long the answer "no roll-out runs" is reused, ms: a booting fleet must not ask for each
 * device.
 */
const rememberMs = 1_000;

export class RolloutOffers {
  #askedAt = -Infinity;
  #isAnyRunning: Promise<boolean> = Promise.resolve(false);

  constructor(private readonly deps: RolloutOffersDeps) {}

  /** Undefined: nothing to install. Rejects without PostgreSQL. `begin`: see `UpdateOffer`. */
  async offerTo(contact: OtaContact, begin: () => boolean): Promise<RolloutOffer | undefined> {
    const { bus, clock, limits, store, verification } = this.deps;
    if (!(await this.#mayHaveSome())) return undefined;
    const candidate = await store.candidate(contact, limits);
    const now = clock.now();
    if (candidate === undefined) return this.#endCurrent(contact);
    const deadlines = verificationDeadlines('FIRMWARE', verification, candidate.sizeBytes);
    const granted = await store.offer(candidate.jobId, { ...contact, at: now }, deadlines, limits, begin);
    if (granted === undefined) return undefined;
    bus.feed.publish('job', { jobId: candidate.jobId });
    return { version: candidate.version, downloadId: granted.downloadId, expiresAt: granted.expiresAt };
  }

  /**
   * A device that connects only for conversations may have no other chance to report its version
   * before the expiry.
   */
  async #endCurrent(contact: OtaContact): Promise<undefined> {
    const { bus, store } = this.deps;
    for (const jobId of await store.endCurrent(contact)) {
      bus.feed.publish('job', { jobId });
      bus.feed.publish('decided', { jobId, deviceIds: [contact.deviceId] });
    }
  }

  #mayHaveSome(): Promise<boolean> {
    const now = this.deps.clock.now();
    // It is later than now if the clock was set back.
    if (now < this.#askedAt || now - this.#askedAt >= rememberMs) {
      this.#askedAt = now;
      this.#isAnyRunning = this.deps.store.isAnyRunning();
      // A failure rejects these callers; the next caller asks again.
      this.#isAnyRunning.catch(() => (this.#askedAt = -Infinity));
    }
    return this.#isAnyRunning;
  }
}
