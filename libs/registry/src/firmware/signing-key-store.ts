/** Public keys for signatures of firmware images. Signatures are verified in libs/fleet. */
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { storableText } from '../database/json-rows.js';
import type { Database } from '../database/database.js';
import { isUuid } from '../database/uuid-v7.js';

export interface FirmwareSigningKeyRow {
  readonly id: string;
  readonly name: string;
  /** The 32 raw bytes of an Ed25519 key, in base64. */
  readonly publicKey: string;
  /** Lower-case hex SHA-256 of the raw bytes. */
  readonly fingerprint: string;
  readonly createdAt: number;
}

export type SigningKeyAnswer =
  | { readonly kind: 'added'; readonly key: FirmwareSigningKeyRow }
  /** A key with these bytes exists. */
  | { readonly kind: 'DUPLICATE'; readonly key: FirmwareSigningKeyRow }
  | { readonly kind: 'FULL' };

interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly public_key: string;
  readonly fingerprint: string;
  readonly created_at: Date;
}

const KEY_COLUMNS = 'id, name, public_key, fingerprint, created_at';

export class FirmwareSigningKeyStore {
  constructor(private readonly database: Database) {}

  /** Oldest first. */
  async all(): Promise<readonly FirmwareSigningKeyRow[]> {
    const records = await this.database.query<KeyRecord>(
      { name: 'signing-keys', text: `SELECT ${KEY_COLUMNS} FROM firmware_signing_key ORDER BY created_at, id` },
      [],
    );
    return records.map(toKeyRow);
  }

  add(
    key: FirmwareSigningKeyRow,
    { keysMax, by }: { readonly keysMax: number; readonly by: AuditSource },
  ): Promise<SigningKeyAnswer> {
    return audited(
      this.database,
      by,
      async (transaction): Promise<SigningKeyAnswer> => {
        // Two concurrent additions must see each other, because their number is limited.
        await transaction.query({ text: 'LOCK TABLE firmware_signing_key IN SHARE ROW EXCLUSIVE MODE' }, []);
        const present = await transaction.query<KeyRecord>(
          { text: `SELECT ${KEY_COLUMNS} FROM firmware_signing_key` },
          [],
        );
        const duplicate = present.find(({ fingerprint }) => fingerprint === key.fingerprint);
        if (duplicate !== undefined) return { kind: 'DUPLICATE', key: toKeyRow(duplicate) };
        if (present.length >= keysMax) return { kind: 'FULL' };
        await transaction.query(
          {
            text: `INSERT INTO firmware_signing_key (id, name, public_key, fingerprint, created_at, created_by)
                   VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), $6)`,
          },
          [key.id, storableText(key.name), key.publicKey, key.fingerprint, key.createdAt, storableText(by.actor)],
        );
        return { kind: 'added', key };
      },
      (answer) => (answer.kind === 'added' ? [actOn(key, 'signing_key.added', key.createdAt)] : []),
    );
  }

  /**
   * Undefined for an unknown id. Images with its signature count as unsigned until the key is added
   * again.
   */
  async remove(
    id: string,
    { at, by }: { readonly at: number; readonly by: AuditSource },
  ): Promise<FirmwareSigningKeyRow | undefined> {
    if (!isUuid(id)) return undefined;
    return audited(
      this.database,
      by,
      async (transaction) => {
        const [removed] = await transaction.query<KeyRecord>(
          { text: `DELETE FROM firmware_signing_key WHERE id = $1 RETURNING ${KEY_COLUMNS}` },
          [id],
        );
        return removed && toKeyRow(removed);
      },
      (key) => (key === undefined ? [] : [actOn(key, 'signing_key.removed', at)]),
    );
  }
}

function toKeyRow(record: KeyRecord): FirmwareSigningKeyRow {
  const { id, name, public_key: publicKey, fingerprint } = record;
  return { id, name, publicKey, fingerprint, createdAt: record.created_at.getTime() };
}

function actOn({ id, name, fingerprint }: FirmwareSigningKeyRow, action: string, at: number) {
  return { action, subject: `signing_key:${id}`, data: { name, fingerprint }, at };
}
