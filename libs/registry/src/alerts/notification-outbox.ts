/**
 * The outbox of notifications. One message of a channel is under way at a time, and a claim is as
 * alive as its process, so that another process continues at once.
 */
import { GIVEN_UP_AFTER_MS, nextMessage, retryAfterMs } from '@flotilla/signals';
import type { NextMessage, WaitingNotification } from '@flotilla/signals';
import { v7 } from 'uuid';
import type { Database, Transaction } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { plainRow } from '../database/plain-row.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import type { ChannelKind, ClaimedMessage, NotificationBacklog } from './alert.js';
import { ALERT_COLUMNS, toAlert } from './alert-rows.js';
import type { AlertRecord } from './alert-rows.js';
import { sealedAs } from './channel-store.js';

/** Waiting messages that are looked at for the next one. */
const LOOK_MAX = 500;
const at = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;
/** No channel waits for longer. A later time is from before a clock was set back. */
const WAIT_MAX = "interval '30 minutes'";
const isToCome = (column: string) =>
  `(coalesce(${column} > ${at('$1')} AND ${column} <= ${at('$1')} + ${WAIT_MAX}, false))`;

/** $1 now (ms), $2 channels that have nothing to send. Locks one channel that may send. */
const CHANNEL = {
  text: `SELECT n.id, n.kind, n.failures, n.sealed_config AS "sealedConfig", n.updated_at AS "updatedAt"
         FROM notification_channel n
         WHERE n.enabled AND n.id <> ALL ($2::uuid[])
           AND NOT ${isToCome('n.paced_until')} AND NOT ${isToCome('n.retry_at')}
           AND (n.claimed_until IS NULL OR n.claimed_until <= ${at('$1')}
             OR NOT EXISTS (SELECT FROM hub_process p WHERE p.id = n.claimed_by AND p.lease_until > now()))
           AND EXISTS (SELECT FROM notification w
             WHERE w.channel_id = n.id AND w.delivered_at IS NULL AND w.given_up_at IS NULL)
         ORDER BY n.id LIMIT 1 FOR UPDATE SKIP LOCKED`,
};
/** $1 channel. */
const WAITING = {
  text: `SELECT w.id, w.alert_id AS "alertId", w.kind, w.message_id AS "messageId",
           a.rule_id AS "ruleId",
           CASE WHEN NOT a.is_group THEN coalesce(a.device_id, a.facts ->> 'label') END AS subject,
           w.kind <> 'RESOLVED' OR EXISTS (SELECT FROM notification f WHERE f.alert_id = w.alert_id
             AND f.channel_id = w.channel_id AND f.kind <> 'RESOLVED' AND f.delivered_at IS NOT NULL)
             AS "isFiringDelivered"
         FROM notification w JOIN alert a ON a.id = w.alert_id
         WHERE w.channel_id = $1 AND w.delivered_at IS NULL AND w.given_up_at IS NULL
         ORDER BY w.id LIMIT ${LOOK_MAX}`,
};
/** $1 message, $2 notifications, $3 channel, $4 process, $5 until (ms). */
const BEGIN = {
  text: `WITH begun AS (UPDATE notification SET message_id = $1 WHERE id = ANY ($2::uuid[]))
         UPDATE notification_channel SET claimed_by = $4, claimed_until = ${at('$5')} WHERE id = $3`,
};
const ALERTS = { text: `SELECT ${ALERT_COLUMNS} FROM alert a WHERE a.id = ANY ($1::uuid[])` };
/** $1 notifications, $2 now (ms), $3 channel, $4 the next time (ms). */
const DELIVERED = {
  text: `WITH done AS (UPDATE notification SET delivered_at = ${at('$2')} WHERE id = ANY ($1::uuid[]))
         UPDATE notification_channel SET claimed_by = NULL, claimed_until = NULL, paced_until = ${at('$4')},
           failures = 0, failing_since = NULL, last_error = NULL, retry_at = NULL WHERE id = $3`,
};
/** Settings that were saved during the attempt are tried at once: it says nothing of them. */
const unlessEdited = (column: string, value: string) =>
  `${column} = CASE updated_at WHEN $7 THEN ${value} ELSE ${column} END`;
/**
 * $1 channel, $2 now (ms), $3 error, $4 the next time (ms), $5 process, $6 until when it had the
 * claim (ms), $7 when its settings were saved. Changes nothing where another claim has followed.
 */
const FAILED = {
  text: `UPDATE notification_channel SET claimed_by = NULL, claimed_until = NULL,
           ${unlessEdited('failures', 'failures + 1')}, ${unlessEdited('retry_at', at('$4'))},
           ${unlessEdited('failing_since', `coalesce(failing_since, ${at('$2')})`)}, ${unlessEdited('last_error', '$3')}
         WHERE id = $1 AND claimed_by = $5 AND claimed_until = ${at('$6')}`,
};
const RELEASE = {
  text: 'UPDATE notification_channel SET claimed_by = NULL, claimed_until = NULL WHERE id = $1 AND claimed_by = $2',
};
/**
 * $1 the oldest that is still tried (ms), $2 now (ms). A "resolved" is given up with its firing.
 */
const GIVE_UP = {
  text: `WITH old AS (
           UPDATE notification SET given_up_at = ${at('$2')}
           WHERE delivered_at IS NULL AND given_up_at IS NULL AND created_at < ${at('$1')}
           RETURNING id, alert_id, channel_id, kind),
         orphans AS (
           UPDATE notification r SET given_up_at = ${at('$2')} FROM old o
           WHERE o.kind <> 'RESOLVED' AND r.alert_id = o.alert_id AND r.channel_id = o.channel_id
             AND r.kind = 'RESOLVED' AND r.given_up_at IS NULL AND r.delivered_at IS NULL
             AND r.id NOT IN (SELECT id FROM old)
             AND NOT EXISTS (SELECT FROM notification f WHERE f.alert_id = r.alert_id
               AND f.channel_id = r.channel_id AND f.kind <> 'RESOLVED' AND f.delivered_at IS NOT NULL)
           RETURNING 1)
         SELECT ((SELECT count(*) FROM old) + (SELECT count(*) FROM orphans))::int AS count`,
};
const BACKLOG = {
  name: 'notification-backlog',
  text: `SELECT count(*)::int AS pending,
           coalesce(extract(epoch FROM max(${at('$1')} - w.created_at)) * 1000, 0)::float8 AS "oldestMs",
           (SELECT count(*)::int FROM notification_channel WHERE enabled AND failing_since IS NOT NULL)
             AS "failingChannels"
         FROM notification w JOIN notification_channel n ON n.id = w.channel_id AND n.enabled
         WHERE w.delivered_at IS NULL AND w.given_up_at IS NULL`,
};

interface WaitingRecord extends Omit<WaitingNotification, 'messageId' | 'subject'> {
  readonly messageId: string | null;
  readonly subject: string | null;
}

interface ChannelRecord {
  readonly id: string;
  readonly kind: ChannelKind;
  readonly failures: number;
  readonly sealedConfig: Uint8Array;
  readonly updatedAt: Date;
}

interface ClaimTimes {
  readonly now: number;
  /** How long the attempt may take, with what follows, ms. */
  readonly claimMs: number;
}

export class NotificationOutbox {
  constructor(
    private readonly database: Database,
    private readonly seal: ArgumentSeal,
  ) {}

  /** The next message of one channel; undefined where no channel may send anything. */
  claim(processId: string, times: ClaimTimes): Promise<ClaimedMessage | undefined> {
    return this.database.transaction(async (transaction) => {
      const passed: string[] = [];
      for (;;) {
        const [channel] = await transaction.query<ChannelRecord>(CHANNEL, [times.now, passed]);
        if (channel === undefined) return undefined;
        const waiting = (await transaction.query<WaitingRecord>(WAITING, [channel.id])).map(plainRow);
        const next = nextMessage(waiting, channel.failures);
        if (next !== undefined) return this.#begin(transaction, channel, next, { processId, ...times });
        passed.push(channel.id);
      }
    });
  }

  /** `nextAt`: the earliest time of the next message to the channel. */
  async delivered({ channelId, notifications }: ClaimedMessage, now: number, nextAt: number): Promise<void> {
    await this.database.query(DELIVERED, [notifications.map(({ id }) => id), now, channelId, nextAt]);
  }

  async failed({ channelId, failures, claim }: ClaimedMessage, now: number, error: string): Promise<void> {
    const retryAt = now + retryAfterMs(failures + 1);
    const { processId, until, settingsFrom } = claim;
    await this.database.query(FAILED, [channelId, now, storableText(error), retryAt, processId, until, settingsFrom]);
  }

  /** Returns a claim whose attempt was not made. */
  async release({ channelId }: ClaimedMessage, processId: string): Promise<void> {
    await this.database.query(RELEASE, [channelId, processId]);
  }

  /** Gives up what could not be delivered for a day. Resolves to the number. */
  async giveUpOld(now: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(GIVE_UP, [now - GIVEN_UP_AFTER_MS, now]);
    return row?.count ?? 0;
  }

  async backlog(now: number): Promise<NotificationBacklog> {
    const [row] = await this.database.query<NotificationBacklog>(BACKLOG, [now]);
    return row ?? { pending: 0, oldestMs: 0, failingChannels: 0 };
  }

  async #begin(
    transaction: Transaction,
    { id: channelId, kind, failures, sealedConfig, updatedAt }: ChannelRecord,
    { notifications, ...next }: NextMessage,
    { processId, now, claimMs }: ClaimTimes & { readonly processId: string },
  ): Promise<ClaimedMessage> {
    const messageId = next.messageId ?? v7({ msecs: now });
    const ids = notifications.map(({ id }) => id);
    const claim = { processId, until: now + claimMs, settingsFrom: updatedAt };
    await transaction.query(BEGIN, [messageId, ids, channelId, claim.processId, claim.until]);
    const alertIds = [...new Set(notifications.map(({ alertId }) => alertId))];
    const rows = (await transaction.query<AlertRecord>(ALERTS, [alertIds])).map(toAlert);
    const byId = new Map(rows.map((row) => [row.id, row]));
    return {
      channelId,
      kind,
      failures,
      claim,
      messageId,
      notifications,
      config: this.seal.open(sealedAs(channelId), sealedConfig),
      isResolved: notifications[0]?.kind === 'RESOLVED',
      alerts: alertIds.flatMap((id) => byId.get(id) ?? []),
    };
  }
}
