/** Rows of user_account as the rest of the hub knows them. */
import type { Role, UserRow } from './people-stores.js';

/** Times in ms. */
export interface UserRecord {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly created_at_ms: number;
  readonly last_sign_in_at_ms: number | null;
  readonly disabled_at_ms: number | null;
}

/** Columns of a UserRecord. Times come as float8, which pg reads as numbers; numeric it would hand over as text. */
export const USER_COLUMNS = `u.id, u.name, u.email, u.role::text AS role, (extract(epoch FROM u.created_at) * 1000)::float8 AS created_at_ms,
  (extract(epoch FROM u.last_sign_in_at) * 1000)::float8 AS last_sign_in_at_ms, (extract(epoch FROM u.disabled_at) * 1000)::float8 AS disabled_at_ms`;

export function toUser(record: UserRecord): UserRow {
  return {
    id: record.id,
    name: record.name,
    email: record.email ?? undefined,
    role: record.role,
    createdAt: record.created_at_ms,
    lastSignInAt: record.last_sign_in_at_ms ?? undefined,
    disabledAt: record.disabled_at_ms ?? undefined,
  };
}
