/** Links by which devices enrol without a code, as SQL. A token is known by its hash only. */
import { v7 } from 'uuid';
import type { Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { EnrolmentLinkRow, EnrolmentStore } from '../provisioning-store.js';
import { RegistryError } from '../registry-error.js';
import { hashOf, newSecret } from '../secrets/secrets.js';

/** All are listed at once, and nobody needs more. Those that ended longest ago are not listed. */
const LISTED_MAX = 1_000;

interface LinkRecord {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly max_devices: number;
  readonly used_count: number;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
}

const COLUMNS = 'id, name, tags, max_devices, used_count, expires_at, revoked_at';

export async function createLink(
  database: Queryable,
  { name, tags, maxDevices, expiresAt }: Parameters<EnrolmentStore['createLink']>[0],
): Promise<{ readonly link: EnrolmentLinkRow; readonly token: string }> {
  const token = newSecret();
  const [record] = await database.query<LinkRecord>(
    {
      text: `INSERT INTO enrolment_link (id, name, tags, max_devices, token_hash, expires_at)
             VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000)) RETURNING ${COLUMNS}`,
    },
    [v7(), storableText(name), [...new Set(tags.map(storableText))].sort(), maxDevices, hashOf(token), expiresAt],
  );
  if (record === undefined) throw new RegistryError('DATABASE_REFUSED', 'The enrolment link was not written.');
  return { link: toLinkRow(record), token };
}

/** A link that was revoked before stays revoked since then. */
export async function revokeLink(database: Queryable, id: string, at: number): Promise<EnrolmentLinkRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [record] = await database.query<LinkRecord>(
    {
      text: `UPDATE enrolment_link SET revoked_at = coalesce(revoked_at, to_timestamp($2::float8 / 1000)) WHERE id = $1 RETURNING ${COLUMNS}`,
    },
    [id, at],
  );
  return record && toLinkRow(record);
}

/** Latest first. */
export async function listLinks(database: Queryable): Promise<readonly EnrolmentLinkRow[]> {
  const records = await database.query<LinkRecord>(
    { text: `SELECT ${COLUMNS} FROM enrolment_link ORDER BY id DESC LIMIT $1` },
    [LISTED_MAX],
  );
  return records.map(toLinkRow);
}

/**
 * Takes as many of `count` places as the link still has: its row's lock lets devices through batch
 * by batch. Undefined where it lets nobody in.
 */
export async function takePlaces(
  transaction: Queryable,
  { token, count, at }: { readonly token: string; readonly count: number; readonly at: number },
): Promise<{ readonly id: string; readonly count: number; readonly tags: readonly string[] } | undefined> {
  const [record] = await transaction.query<{ id: string; count: number; tags: readonly string[] }>(
    {
      name: 'take-places-on-link',
      text: `WITH link AS (
               SELECT id, least(max_devices - used_count, $3::int) AS count FROM enrolment_link
               WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000) AND used_count < max_devices FOR UPDATE
             )
             UPDATE enrolment_link l SET used_count = l.used_count + link.count FROM link WHERE l.id = link.id RETURNING l.id, link.count, l.tags`,
    },
    [hashOf(token), at, count],
  );
  return record;
}

function toLinkRow(record: LinkRecord): EnrolmentLinkRow {
  return {
    id: record.id,
    name: record.name,
    tags: record.tags,
    maxDevices: record.max_devices,
    usedCount: record.used_count,
    expiresAt: record.expires_at.getTime(),
    revokedAt: record.revoked_at?.getTime(),
  };
}
