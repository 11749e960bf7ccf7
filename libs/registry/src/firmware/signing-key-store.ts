/** Public keys for signatures of firmware images. Signatures are verified in libs/fleet. */
import { audited } from '../audit/append-audit.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { storableText } from '../database/json-rows.js';
import type { Database } from '../database/database.js';
import { plainRow } from '../database/plain-row.js';
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

type SigningKeyAnswer =
  | { readonly kind: 'added'; readonly key: FirmwareSigningKeyRow }
  /** A key with these bytes exists. */
  | { readonly kind: 'DUPLICATE'; readonly key: FirmwareSigningKeyRow }
  | { readonly kind: 'FULL' };

/** The columns of a FirmwareSigningKeyRow. */
const SHOWN = { id: true, name: true, publicKey: true, fingerprint: true, createdAt: true } as const;

export class FirmwareSigningKeyStore {
  constructor(private readonly database: Database) {}

  /** Oldest first. */
  async all(): Promise<readonly FirmwareSigningKeyRow[]> {
    const query = { orderBy: [{ createdAt: 'asc' as const }, { id: 'asc' as const }], select: SHOWN };
    return (await this.database.ask((prisma) => prisma.firmwareSigningKey.findMany(query))).map(plainRow);
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
        return transaction.ask(async (prisma) => {
          const { fingerprint } = key;
          const duplicate = await prisma.firmwareSigningKey.findUnique({ where: { fingerprint }, select: SHOWN });
          if (duplicate !== null) return { kind: 'DUPLICATE', key: plainRow(duplicate) };
          if ((await prisma.firmwareSigningKey.count()) >= keysMax) return { kind: 'FULL' };
          const { id, name, publicKey, createdAt } = key;
          const texts = { name: storableText(name), createdBy: storableText(by.actor) };
          const data = { id, publicKey, fingerprint, createdAt: new Date(createdAt), ...texts };
          await prisma.firmwareSigningKey.create({ data });
          return { kind: 'added', key };
        });
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
      (transaction) =>
        transaction.ask(async (prisma) => {
          const key = await prisma.firmwareSigningKey.findUnique({ where: { id }, select: SHOWN });
          const { count } = await prisma.firmwareSigningKey.deleteMany({ where: { id } });
          return key === null || count === 0 ? undefined : plainRow(key);
        }),
      (key) => (key === undefined ? [] : [actOn(key, 'signing_key.removed', at)]),
    );
  }
}

function actOn({ id, name, fingerprint }: FirmwareSigningKeyRow, action: string, at: number) {
  return { action, subject: `signing_key:${id}`, data: { name, fingerprint }, at };
}
