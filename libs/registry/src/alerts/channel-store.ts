/** Notification channels. Their settings are encrypted; rows show them with secrets masked. */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange, ChangeOrigin } from '../audit/audit-entry.js';
import type { Database, Queryable } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import type { AlertUpdate, ChannelAnswer, ChannelConfig, ChannelPlan, ChannelRow } from './alert.js';
import { CHANNEL_SHOWN, toChannel } from './alert-rows.js';

/** A removed channel is not used by any rule. */
const LEAVE_RULES = {
  text: `UPDATE alert_rule SET channel_ids = array_remove(channel_ids, $1::uuid) WHERE $1::uuid = ANY (channel_ids)`,
};

/**
 * The first channel enables the shipped rules that no person changed, and receives their messages.
 * If an earlier channel was removed, these rules are enabled but have no channel.
 */
const ENABLE_SHIPPED = {
  text: `UPDATE alert_rule SET enabled = true, channel_ids = ARRAY[$1::uuid]
         WHERE shipped_as IS NOT NULL AND deleted_at IS NULL AND channel_ids = '{}' AND updated_at = created_at
           AND (SELECT count(*) FROM notification_channel) = 1`,
};

export class ChannelStore {
  constructor(
    private readonly database: Database,
    private readonly seal: ArgumentSeal,
  ) {}

  /** By name. */
  async all(): Promise<readonly ChannelRow[]> {
    const query = { orderBy: { name: 'asc' as const }, select: CHANNEL_SHOWN };
    return (await this.database.ask((prisma) => prisma.notificationChannel.findMany(query))).map(toChannel);
  }

  async find(id: string): Promise<ChannelRow | undefined> {
    if (!isUuid(id)) return undefined;
    const query = { where: { id }, select: CHANNEL_SHOWN };
    const row = await this.database.ask((prisma) => prisma.notificationChannel.findUnique(query));
    return row === null ? undefined : toChannel(row);
  }

  /** The settings with their secrets. Undefined for an unknown id, and if they cannot be opened. */
  async configOf(id: string): Promise<ChannelConfig | undefined> {
    if (!isUuid(id)) return undefined;
    const query = { where: { id }, select: { sealedConfig: true } };
    const row = await this.database.ask((prisma) => prisma.notificationChannel.findUnique(query));
    return row === null ? undefined : this.seal.open(sealedAs(id), row.sealedConfig);
  }

  create(
    plan: ChannelPlan,
    { channelsMax, at, by }: ChangeOrigin & { readonly channelsMax: number },
  ): Promise<ChannelAnswer> {
    const id = v7({ msecs: at });
    return audited(
      this.database,
      by,
      async (transaction): Promise<ChannelAnswer> => {
        await lock(transaction);
        const answer = await transaction.ask(async (prisma): Promise<ChannelAnswer> => {
          if ((await prisma.notificationChannel.count({ where: { name: storableText(plan.name) } })) > 0)
            return { kind: 'NAME_TAKEN' };
          if ((await prisma.notificationChannel.count()) >= channelsMax) return { kind: 'FULL' };
          const data = { ...this.#columnsOf(id, plan), id, createdAt: new Date(at), updatedAt: new Date(at) };
          const row = await prisma.notificationChannel.create({ data, select: CHANNEL_SHOWN });
          return { kind: 'saved', channel: toChannel(row) };
        });
        if (answer.kind === 'saved') await transaction.query(ENABLE_SHIPPED, [id]);
        return answer;
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('notification_channel.created', answer.channel, at)] : []),
    );
  }

  /** Replaces all of it. A channel that failed is tried again at once. */
  async update(id: string, plan: ChannelPlan, { at, by, expectedRevision }: AlertUpdate): Promise<ChannelAnswer> {
    if (!isUuid(id)) return { kind: 'NOT_FOUND' };
    return audited(
      this.database,
      by,
      async (transaction): Promise<ChannelAnswer> => {
        await lock(transaction);
        return transaction.ask(async (prisma) => {
          const stored = await prisma.notificationChannel.findUnique({ where: { id }, select: CHANNEL_SHOWN });
          if (stored === null) return { kind: 'NOT_FOUND' };
          if (expectedRevision !== undefined && toChannel(stored).revision !== expectedRevision)
            return { kind: 'OTHER_REVISION' };
          const isTaken = { name: storableText(plan.name), id: { not: id } };
          if ((await prisma.notificationChannel.count({ where: isTaken })) > 0) return { kind: 'NAME_TAKEN' };
          const fresh = { failures: 0, failingSince: null, lastError: null, retryAt: null };
          const data = { ...this.#columnsOf(id, plan), ...fresh, updatedAt: new Date(at) };
          const change = { where: { id }, data, select: CHANNEL_SHOWN };
          const [row] = await prisma.notificationChannel.updateManyAndReturn(change);
          return row === undefined ? { kind: 'NOT_FOUND' } : { kind: 'saved', channel: toChannel(row) };
        });
      },
      (answer) => (answer.kind === 'saved' ? [changeOf('notification_channel.updated', answer.channel, at)] : []),
    );
  }

  /** Records who sent a test message, and how it ended. */
  async recordTest(channel: ChannelRow, delivered: boolean, { at, by }: ChangeOrigin): Promise<void> {
    const entry = changeOf('notification_channel.tested', channel, at);
    await audited(
      this.database,
      by,
      async () => [{ ...entry, data: { ...entry.data, delivered } }],
      (made) => made,
    );
  }

  /** Its messages are not sent any more. False for an unknown id. */
  async remove(id: string, { at, by }: ChangeOrigin): Promise<boolean> {
    if (!isUuid(id)) return false;
    const removed = await audited(
      this.database,
      by,
      async (transaction) => {
        await transaction.query(LEAVE_RULES, [id]);
        return transaction.ask(async (prisma) => {
          const row = await prisma.notificationChannel.findUnique({ where: { id }, select: CHANNEL_SHOWN });
          await prisma.notification.deleteMany({ where: { channelId: id } });
          const { count } = await prisma.notificationChannel.deleteMany({ where: { id } });
          return row === null || count === 0 ? undefined : toChannel(row);
        });
      },
      (channel) => (channel === undefined ? [] : [changeOf('notification_channel.deleted', channel, at)]),
    );
    return removed !== undefined;
  }

  #columnsOf(id: string, { name, kind, config, shown, enabled }: ChannelPlan) {
    return {
      name: storableText(name),
      kind,
      enabled,
      config: storableJson(shown),
      sealedConfig: Uint8Array.from(this.seal.sealAll(sealedAs(id), config)),
    };
  }
}

/** What the encrypted settings belong to: they cannot be opened as those of another channel. */
export function sealedAs(channelId: string): string {
  return `notification-channel:${channelId}`;
}

/** Writers take turns, because names are unique and the number of rows is bounded. */
async function lock(transaction: Queryable): Promise<void> {
  await transaction.query({ text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.notification-channels'))` }, []);
}

function changeOf(action: string, { id, name, kind, config, enabled }: ChannelRow, at: number): AuditedChange {
  return { action, subject: `notification-channel:${id}`, data: { name, kind, config, enabled }, at };
}
