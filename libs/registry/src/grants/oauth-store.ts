/**
 * What the OAuth library keeps: registered clients, codes, tokens and authorization requests. A
 * secret is stored as its hash; only its holder can present it.
 */
import { z } from 'zod';
import type { Database } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import { hashOf } from '../secrets/secrets.js';

/** The members of a model of the library, without the secret. */
type ArtifactPayload = Readonly<Record<string, unknown>>;

export interface Artifact {
  readonly kind: string;
  /** The secret. */
  readonly id: string;
  readonly grantId: string | undefined;
  readonly payload: ArtifactPayload;
  /** Ms since the Unix epoch. */
  readonly expiresAt: number;
}

interface NewOauthClient {
  readonly id: string;
  readonly metadata: ArtifactPayload;
  readonly remoteAddress: string | undefined;
}

interface ClientBounds {
  readonly clientsMax: number;
  /** A client without a grant that was not used for so long makes room for another one, ms. */
  readonly idleMs: number;
  readonly at: number;
}

const payloadOf = z.record(z.string(), z.unknown());

/** Bounds the number of clients that register at the same time. */
const CLIENTS_LOCK = { text: `SELECT pg_advisory_xact_lock(hashtext('flotilla.oauth_clients'))` };
/** Removes clients without a grant, those unused for longest first, until there is room for one. */
const MAKE_ROOM = {
  text: `DELETE FROM oauth_client WHERE id IN (
           SELECT c.id FROM oauth_client c
           WHERE coalesce(c.last_used_at, c.created_at) <= to_timestamp($2::float8 / 1000)
             AND NOT EXISTS (SELECT FROM agent_grant g WHERE g.client_id = c.id
               AND g.revoked_at IS NULL AND g.expires_at > now())
           ORDER BY coalesce(c.last_used_at, c.created_at)
           LIMIT greatest(0, (SELECT count(*) FROM oauth_client) + 1 - $1))`,
};
const COUNT = { text: 'SELECT count(*)::int AS count FROM oauth_client' };

/**
 * How long a request runs on after its token has expired, ms: the longest call. Otherwise the
 * agent would not learn what a call did that it made in time.
 */
export const RUNNING_MS_MAX = 300_000;
/** A grant without a token is of no use, unless it is so new that its code was not used yet, ms. */
const WITHOUT_TOKEN_MS = 3_600_000;

const REMOVE_EXPIRED = [
  {
    text: 'DELETE FROM oauth_artifact WHERE expires_at < to_timestamp($1::float8 / 1000) RETURNING 1',
    keptMs: RUNNING_MS_MAX,
  },
  {
    text: `DELETE FROM agent_grant g WHERE g.created_at < to_timestamp($1::float8 / 1000)
             AND (least(g.revoked_at, g.expires_at) < to_timestamp($1::float8 / 1000)
               OR NOT EXISTS (SELECT FROM user_account u WHERE u.id = g.user_id)
               OR NOT EXISTS (SELECT FROM oauth_artifact a WHERE a.grant_id = g.id)) RETURNING 1`,
    keptMs: WITHOUT_TOKEN_MS,
  },
];

export class OauthStore {
  constructor(private readonly database: Database) {}

  /** Replaces one with the same id. */
  async put({ kind, id, grantId, payload, expiresAt }: Artifact): Promise<void> {
    const idHash = hashOf(id);
    const data = {
      payload: storableJson(payload),
      expiresAt: new Date(expiresAt),
      grantId: grantId !== undefined && isUuid(grantId) ? grantId : null,
    };
    const where = { kind_idHash: { kind, idHash } };
    await this.database.ask((prisma) =>
      prisma.oauthArtifact.upsert({ where, create: { kind, idHash, ...data }, update: data }),
    );
  }

  /** Also an expired one that was not removed yet. `consumedAt` is in seconds. */
  async find(
    kind: string,
    id: string,
  ): Promise<{ readonly payload: ArtifactPayload; readonly consumedAt: number | undefined } | undefined> {
    const where = { kind_idHash: { kind, idHash: hashOf(id) } };
    const row = await this.database.ask((prisma) => prisma.oauthArtifact.findUnique({ where }));
    if (row === null) return undefined;
    const consumedAt = row.consumedAt === null ? undefined : Math.floor(row.consumedAt.getTime() / 1_000);
    return { payload: payloadOf.parse(row.payload), consumedAt };
  }

  /** False where it was consumed before: of two at once, one wins. */
  async consume(kind: string, id: string, at: number): Promise<boolean> {
    const where = { kind, idHash: hashOf(id), consumedAt: null };
    const change = { where, data: { consumedAt: new Date(at) } };
    return (await this.database.ask((prisma) => prisma.oauthArtifact.updateMany(change))).count > 0;
  }

  async remove(kind: string, id: string): Promise<void> {
    const where = { kind, idHash: hashOf(id) };
    await this.database.ask((prisma) => prisma.oauthArtifact.deleteMany({ where }));
  }

  async removeOfGrant(kind: string, grantId: string): Promise<void> {
    if (!isUuid(grantId)) return;
    await this.database.ask((prisma) => prisma.oauthArtifact.deleteMany({ where: { kind, grantId } }));
  }

  /** False where there are `clientsMax` clients in use. */
  register(
    { id, metadata, remoteAddress }: NewOauthClient,
    { clientsMax, idleMs, at }: ClientBounds,
  ): Promise<boolean> {
    const data = {
      id,
      metadata: storableJson(metadata),
      createdAt: new Date(at),
      remoteAddress: remoteAddress ?? null,
    };
    return this.database.transaction(async (transaction) => {
      await transaction.query(CLIENTS_LOCK, []);
      await transaction.query(MAKE_ROOM, [clientsMax, at - idleMs]);
      const [row] = await transaction.query<{ count: number }>(COUNT, []);
      if ((row?.count ?? 0) >= clientsMax) return false;
      await transaction.ask((prisma) => prisma.oauthClient.create({ data }));
      return true;
    });
  }

  /** `id` is any text of a stranger. */
  async findClient(id: string): Promise<ArtifactPayload | undefined> {
    if (storableText(id) !== id) return undefined;
    const row = await this.database.ask((prisma) => prisma.oauthClient.findUnique({ where: { id } }));
    return row === null ? undefined : payloadOf.parse(row.metadata);
  }

  async noteClientUse(id: string, at: number): Promise<void> {
    const change = { where: { id }, data: { lastUsedAt: new Date(at) } };
    await this.database.ask((prisma) => prisma.oauthClient.updateMany(change));
  }

  /** Removes what has no use any more, and resolves to the number of rows. */
  async removeExpired(now: number): Promise<number> {
    let removed = 0;
    for (const { text, keptMs } of REMOVE_EXPIRED)
      removed += (await this.database.query({ text }, [now - keptMs])).length;
    return removed;
  }
}
