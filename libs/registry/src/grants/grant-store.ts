/**
 * Connected agents and their access tokens. Knows who holds a token, not what a role allows. The
 * codes and tokens themselves are in `oauth-store.ts`.
 */
import { v7 } from 'uuid';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange, ChangeOrigin } from '../audit/audit-entry.js';
import { QUESTION_TIMEOUT_MS } from '../database/database.js';
import type { Database } from '../database/database.js';
import { storableJson, storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Role } from '../people/user.js';
import type { RegistryLogger } from '../registry-logger.js';
import { SecretCache } from '../secrets/secret-cache.js';
import { knownScopes, toGrant } from './agent-grant.js';
import type { AgentGrantRow, ListedGrant, NewAgentGrant, OpenCheck, TokenHolder } from './agent-grant.js';
import { RUNNING_MS_MAX } from './oauth-store.js';

/** "Last used" is exact to this. */
const LAST_USED_STEP_MS = 60_000;
/** No token is longer, and hashing long texts costs time. */
const TOKEN_CHARACTERS_MAX = 100;

/** SQL, because each request of an agent needs the answer. */
const FIND_HOLDERS = {
  text: `SELECT a.id_hash AS "idHash", a.payload->>'scope' AS scope, a.payload->>'aud' AS audience,
           (extract(epoch FROM least(a.expires_at, g.expires_at)) * 1000)::float8 AS "endsAt",
           (extract(epoch FROM g.last_used_at) * 1000)::float8 AS "lastUsedAt",
           g.id AS "grantId", g.client_name AS "clientName", g.devices,
           array_to_string(g.scopes, ' ') AS granted,
           u.id AS "userId", u.email, u.role::text AS role
         FROM oauth_artifact a JOIN agent_grant g ON g.id = a.grant_id JOIN user_account u ON u.id = g.user_id
         WHERE a.kind = 'AccessToken' AND a.id_hash = ANY($1::text[])
           AND g.revoked_at IS NULL AND u.disabled_at IS NULL`,
  timeoutMs: QUESTION_TIMEOUT_MS,
};
/** Locks the person, so that the number of grants is bounded. */
const LOCK_USER = { text: 'SELECT FROM user_account WHERE id = $1 AND disabled_at IS NULL FOR UPDATE' };
/** Ends grants beyond the maximum beside the new one, those unused for the longest time first. */
const END_SURPLUS = {
  text: `UPDATE agent_grant SET revoked_at = to_timestamp($2::float8 / 1000) WHERE id IN (
           SELECT id FROM agent_grant WHERE user_id = $1 AND revoked_at IS NULL AND id <> $4
           ORDER BY coalesce(last_used_at, created_at) DESC, id DESC OFFSET $3 - 1)
         RETURNING id, client_name AS "clientName"`,
};

interface HolderRow {
  readonly scope: string | null;
  readonly audience: string | null;
  readonly granted: string;
  readonly endsAt: number;
  readonly lastUsedAt: number | null;
  readonly grantId: string;
  readonly clientName: string;
  readonly devices: DeviceFilter | null;
  readonly userId: string;
  readonly email: string | null;
  readonly role: Role;
}

interface Holder {
  readonly holder: TokenHolder;
  /** When the token expires, ms since the Unix epoch. */
  readonly endsAt: number;
  /** Also changed here, so that a use is noted once. */
  lastUsedAt: number;
}

export class AgentGrantStore {
  readonly #cache = new SecretCache<HolderRow, Holder>((hashes) => this.#find(hashes));

  constructor(
    private readonly database: Database,
    private readonly logger: RegistryLogger,
  ) {}

  /** Undefined where the person was disabled or deleted meanwhile. */
  async create(
    grant: NewAgentGrant,
    { grantsMax, at, by }: ChangeOrigin & { readonly grantsMax: number },
  ): Promise<AgentGrantRow | undefined> {
    const id = v7({ msecs: at });
    const data = {
      id,
      userId: grant.userId,
      clientId: grant.clientId,
      scopes: [...grant.scopes],
      clientName: storableText(grant.clientName),
      clientHost: storableText(grant.clientHost),
      devices: grant.devices === undefined ? Prisma.DbNull : storableJson(grant.devices),
      createdAt: new Date(at),
      expiresAt: new Date(grant.expiresAt),
    };
    const made = await audited(
      this.database,
      by,
      async (transaction) => {
        if ((await transaction.query(LOCK_USER, [grant.userId])).length === 0) return undefined;
        const row = toGrant(await transaction.ask((prisma) => prisma.agentGrant.create({ data })));
        const surplus = await transaction.query<{ id: string; clientName: string }>(END_SURPLUS, [
          grant.userId,
          at,
          grantsMax,
          id,
        ]);
        return { row, surplus };
      },
      (result) =>
        result === undefined
          ? []
          : [
              changeOf('grant.created', result.row, at),
              ...result.surplus.map((ended) => ({
                action: 'grant.revoked',
                subject: `grant:${ended.id}`,
                data: { client: ended.clientName, reason: 'too many grants' },
                at,
              })),
            ],
    );
    if (made === undefined) return undefined;
    if (made.surplus.length > 0) this.forget();
    return made.row;
  }

  /** Also one that was revoked or has expired. */
  async find(id: string): Promise<AgentGrantRow | undefined> {
    if (!isUuid(id)) return undefined;
    const row = await this.database.ask((prisma) => prisma.agentGrant.findUnique({ where: { id } }));
    return row === null ? undefined : toGrant(row);
  }

  /** Those that are valid, the newest first; only those of one person if it is given. */
  async living(now: number, userId?: string): Promise<readonly ListedGrant[]> {
    if (userId !== undefined && !isUuid(userId)) return [];
    const where = { revokedAt: null, expiresAt: { gt: new Date(now) }, ...(userId === undefined ? {} : { userId }) };
    return this.database.ask(async (prisma) => {
      const grants = await prisma.agentGrant.findMany({ where, orderBy: { id: 'desc' } });
      const ids = [...new Set(grants.map((grant) => grant.userId))];
      const people = await prisma.userAccount.findMany({
        where: { id: { in: ids } },
        select: { id: true, name: true, email: true },
      });
      const byId = new Map(people.map((person) => [person.id, person]));
      return grants.flatMap((grant) => {
        const person = byId.get(grant.userId);
        return person === undefined
          ? []
          : [{ ...toGrant(grant), userName: person.name, userEmail: person.email ?? undefined }];
      });
    });
  }

  /** Ends the grant and its tokens. Undefined where it is unknown or has ended. */
  async revoke(id: string, { at, by }: ChangeOrigin, reason?: string): Promise<AgentGrantRow | undefined> {
    if (!isUuid(id)) return undefined;
    const ended = await audited(
      this.database,
      by,
      (transaction) =>
        transaction.ask(async (prisma) => {
          const change = { where: { id, revokedAt: null }, data: { revokedAt: new Date(at) } };
          const [row] = await prisma.agentGrant.updateManyAndReturn(change);
          if (row !== undefined) await prisma.oauthArtifact.deleteMany({ where: { grantId: id } });
          return row === undefined ? undefined : toGrant(row);
        }),
      (row) => (row === undefined ? [] : [changeOf('grant.revoked', row, at, reason)]),
    );
    this.forget();
    return ended;
  }

  /**
   * Resolves to the holder; undefined for unknown, expired and revoked tokens, and for people who
   * are disabled. The checks of open requests are no uses of the token: see `OpenCheck`.
   */
  async authenticate(token: string, check?: OpenCheck): Promise<TokenHolder | undefined> {
    if (token.length === 0 || token.length > TOKEN_CHARACTERS_MAX) return undefined;
    const found = await this.#cache.authenticate(token, (row, now) => {
      const { endsAt, lastUsedAt } = row;
      if (endsAt + RUNNING_MS_MAX <= now) return undefined;
      const principal = { holder: holderOf(row), endsAt, lastUsedAt: lastUsedAt ?? 0 };
      return { principal, endsAt: endsAt + RUNNING_MS_MAX };
    });
    const now = Date.now();
    if (found === undefined || (check !== 'running' && now >= found.endsAt)) return undefined;
    // Not inside the look-up: a check of an open request may have made it a moment ago.
    if (check === undefined) this.#noteUse(found, now);
    return found.holder;
  }

  /** Looks up all tokens again: a grant or a person has changed. */
  forget(): void {
    this.#cache.clear();
  }

  async #find(hashes: readonly string[]): Promise<ReadonlyMap<string, HolderRow>> {
    const rows = await this.database.query<HolderRow & { readonly idHash: string }>(FIND_HOLDERS, [hashes]);
    return new Map(rows.map(({ idHash, ...row }) => [idHash, row]));
  }

  #noteUse(found: Holder, now: number): void {
    if (now - found.lastUsedAt < LAST_USED_STEP_MS) return;
    found.lastUsedAt = now;
    const id = found.holder.grantId;
    this.database
      .ask((prisma) => prisma.agentGrant.updateMany({ where: { id }, data: { lastUsedAt: new Date(now) } }))
      .catch((error: unknown) => {
        this.logger.warn({ grantId: id, err: error }, 'the last use of a connected agent was not recorded');
      });
  }
}

function holderOf(row: HolderRow): TokenHolder {
  const { grantId, clientName, scope, granted, audience, devices, userId, email, role } = row;
  return {
    grantId,
    clientName,
    scopes: knownScopes(scope ?? ''),
    granted: knownScopes(granted),
    devices: devices ?? undefined,
    audience: audience ?? '',
    user: { id: userId, email: email ?? undefined, role },
  };
}

function changeOf(
  action: string,
  { id, clientId, clientName, clientHost, scopes, devices }: AgentGrantRow,
  at: number,
  reason?: string,
): AuditedChange {
  const data = {
    client: clientName,
    clientId,
    clientHost,
    scopes,
    devices,
    ...(reason === undefined ? {} : { reason }),
  };
  return { action, subject: `grant:${id}`, data, at };
}
