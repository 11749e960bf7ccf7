/** Links by which devices enrol without a code. Tokens are stored as hashes. */
import { v7 } from 'uuid';
import type { Queryable, Transaction } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import { plainRow } from '../../database/plain-row.js';
import { isUuid } from '../../database/uuid-v7.js';
import type { CreatedLink, EnrolmentLinkRow, NewEnrolmentLink } from '../provisioning.js';
import { hashOf, newSecret } from '../../secrets/secrets.js';

/** Links of a hub that may be valid: all are listed at once. */
export const LINKS_MAX = 1_000;

/** Removes links that ended, the earliest first, until there is room for one more. */
const MAKE_ROOM = {
  text: `DELETE FROM enrolment_link WHERE id IN (
           SELECT id FROM enrolment_link
           WHERE revoked_at IS NOT NULL OR expires_at <= to_timestamp($2::float8 / 1000)
           ORDER BY least(revoked_at, expires_at)
           LIMIT greatest(0, (SELECT count(*) FROM enrolment_link) + 1 - $1::int))`,
};

/** The columns of an EnrolmentLinkRow. */
const SHOWN = {
  id: true,
  name: true,
  tags: true,
  maxDevices: true,
  usedCount: true,
  expiresAt: true,
  revokedAt: true,
} as const;

export async function createLink(
  transaction: Transaction,
  { name, tags, maxDevices, expiresAt }: NewEnrolmentLink,
  at: number,
): Promise<CreatedLink> {
  await transaction.query(MAKE_ROOM, [LINKS_MAX, at]);
  const token = newSecret();
  const data = {
    id: v7(),
    name: storableText(name),
    tags: [...new Set(tags.map(storableText))].sort(),
    maxDevices,
    tokenHash: hashOf(token),
    expiresAt: new Date(expiresAt),
  };
  const link = await transaction.ask((prisma) => prisma.enrolmentLink.create({ data, select: SHOWN }));
  return { link: plainRow(link), token };
}

/** A link that was revoked before keeps the time of its revocation. */
export async function revokeLink(
  transaction: Transaction,
  id: string,
  at: number,
): Promise<EnrolmentLinkRow | undefined> {
  if (!isUuid(id)) return undefined;
  const change = { where: { id, revokedAt: null }, data: { revokedAt: new Date(at) } };
  const link = await transaction.ask(async (prisma) => {
    await prisma.enrolmentLink.updateMany(change);
    return prisma.enrolmentLink.findUnique({ where: { id }, select: SHOWN });
  });
  return link === null ? undefined : plainRow(link);
}

/** All, the latest first. */
export async function listLinks(database: Transaction): Promise<readonly EnrolmentLinkRow[]> {
  const query = { orderBy: { id: 'desc' as const }, select: SHOWN };
  return (await database.ask((prisma) => prisma.enrolmentLink.findMany(query))).map(plainRow);
}

/**
 * Takes up to `count` places of a link; undefined if it is full. The lock of its row makes batches
 * wait.
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
               WHERE token_hash = $1 AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000)
                 AND used_count < max_devices FOR UPDATE
             )
             UPDATE enrolment_link l SET used_count = l.used_count + link.count FROM link WHERE l.id = link.id
             RETURNING l.id, link.count, l.tags`,
    },
    [hashOf(token), at, count],
  );
  return record;
}
