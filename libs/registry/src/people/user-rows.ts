/** Rows of user_account as the rest of the hub knows them, whether Prisma or SQL read them. */
import { z } from 'zod';
import type { UserRow } from './people-stores.js';

/** Columns for SQL, times in ms. */
export const USER_COLUMNS = `u.id, u.name, u.email, u.role::text AS role, extract(epoch FROM u.created_at) * 1000 AS "createdAt",
  extract(epoch FROM u.last_sign_in_at) * 1000 AS "lastSignInAt", extract(epoch FROM u.disabled_at) * 1000 AS "disabledAt"`;

/** numeric comes as text. */
const timeMs = z.coerce.number();
const timeOrNone = z.preprocess((value) => value ?? undefined, timeMs.optional());

const columns = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  role: z.enum(['VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN']),
  createdAt: timeMs,
  lastSignInAt: timeOrNone,
  disabledAt: timeOrNone,
});

export function toUser(row: unknown): UserRow {
  const { email, lastSignInAt, disabledAt, ...user } = columns.parse(row);
  return { ...user, email: email ?? undefined, lastSignInAt, disabledAt };
}
