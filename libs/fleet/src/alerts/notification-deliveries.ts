/** Delivers the messages of the outbox: one at a time for each channel, at least once. */
import { CHANNEL_PACE_MS, messageOf } from '@flotilla/signals';
import type { AlertLanguage } from '@flotilla/signals';
import type { ClaimedMessage, ProcessLease, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import type { FleetLogger } from '../fleet-logger.js';
import { alertForPrograms } from './alert-for-programs.js';
import type { OutgoingMessage } from './channels/channel-request.js';
import type { ChannelSender } from './channels/channel-sender.js';
import { readSettings } from './channels/channel-settings.js';

/** How messages are written. */
export interface MessageSettings {
  readonly language: AlertLanguage;
  /** IANA name. */
  readonly timeZone: string;
  /** The address of the console without a slash at its end. */
  readonly consoleUrl: string | undefined;
}

export interface DeliveryDeps {
  readonly registry: Pick<Registry, 'notificationOutbox'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  readonly lease: Pick<ProcessLease, 'id'>;
  readonly sender: Pick<ChannelSender, 'send' | 'attemptMs'>;
  readonly messages: MessageSettings;
}

/** Channels that send at the same time in one process. */
const CHANNELS_AT_ONCE = 10;
/** How much longer than an attempt a claim lasts, ms: for writing down how it ended. */
const SETTLE_MS = 4_000;
/** Between two looks for messages that are given up, ms. */
const GIVE_UP_EVERY_MS = 60_000;

export class NotificationDeliveries {
  readonly #stopped = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #claiming: Promise<void> | undefined;
  #gaveUpAt = 0;
  readonly counts = { delivered: 0, failed: 0, given_up: 0 };

  constructor(private readonly deps: DeliveryDeps) {}

  /** Something may be due. Returns at once. */
  wake(): void {
    if (this.#stopped.signal.aborted) return;
    this.#claiming ??= this.#claimAll()
      .catch((error: unknown) => this.deps.logger.warn({ err: error }, 'could not read the pending notifications'))
      .finally(() => (this.#claiming = undefined));
  }

  /** When no attempt is under way. */
  async idle(): Promise<void> {
    await this.#claiming;
    await Promise.all(this.#underWay);
  }

  /** Interrupts the attempts in flight. Their messages stay for the next process. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.idle();
  }

  async #claimAll(): Promise<void> {
    await this.#giveUp();
    const { clock, lease, registry, sender } = this.deps;
    while (!this.#stopped.signal.aborted && this.#underWay.size < CHANNELS_AT_ONCE) {
      const times = { now: clock.now(), claimMs: sender.attemptMs + SETTLE_MS };
      const claimed = await registry.notificationOutbox.claim(lease.id, times);
      if (claimed === undefined) return;
      this.#begin(claimed);
    }
  }

  #begin(claimed: ClaimedMessage): void {
    const { channelId, messageId } = claimed;
    const delivery = this.#deliver(claimed)
      .catch((error: unknown) =>
        this.deps.logger.warn({ err: error, channelId, messageId }, 'a notification was not recorded: it comes again'),
      )
      .finally(() => {
        this.#underWay.delete(delivery);
      });
    this.#underWay.add(delivery);
  }

  async #deliver(claimed: ClaimedMessage): Promise<void> {
    const { clock, lease, logger, registry, sender } = this.deps;
    const outbox = registry.notificationOutbox;
    const read =
      claimed.config === undefined
        ? { problem: 'Its settings were encrypted with another key. Save the channel again with its secrets.' }
        : settingsOf(claimed);
    if ('problem' in read) return outbox.failed(claimed, clock.now(), read.problem);
    let result: Awaited<ReturnType<typeof sender.send>>;
    try {
      result = await sender.send(read.settings, this.#messageOf(claimed), this.#stopped.signal);
    } catch (error) {
      if (!this.#stopped.signal.aborted) throw error;
      return outbox.release(claimed, lease.id);
    }
    this.counts[result.delivered ? 'delivered' : 'failed'] += 1;
    const now = clock.now();
    if (result.delivered) return outbox.delivered(claimed, now, now + CHANNEL_PACE_MS);
    const error = result.error ?? 'The attempt failed.';
    const { channelId, failures } = claimed;
    if (failures === 0) logger.warn({ channelId, error }, 'a notification channel does not accept messages; retrying');
    await outbox.failed(claimed, now, error);
  }

  #messageOf({ messageId, isResolved, alerts }: ClaimedMessage): OutgoingMessage {
    const { clock, messages } = this.deps;
    return {
      id: messageId,
      type: isResolved ? 'alert.resolved' : 'alert.fired',
      at: clock.now(),
      text: messageOf(alerts, isResolved, messages),
      alerts: alerts.map((alert) => alertForPrograms(alert, messages)),
    };
  }

  async #giveUp(): Promise<void> {
    const { clock, logger, registry } = this.deps;
    const now = clock.now();
    // It is later than now if the clock was set back.
    if (now >= this.#gaveUpAt && now - this.#gaveUpAt < GIVE_UP_EVERY_MS) return;
    this.#gaveUpAt = now;
    const count = await registry.notificationOutbox.giveUpOld(now);
    this.counts.given_up += count;
    if (count > 0) logger.warn({ count }, 'gave up notifications that no attempt of a day delivered');
  }
}

function settingsOf({ kind, config }: ClaimedMessage) {
  const read = readSettings(kind, config, []);
  return 'refusal' in read ? { problem: read.refusal.message } : read;
}
