/**
 * Firmware images and the boards that they are published for. Few rows, rare writes. `by` adds a
 * change to the audit trail.
 */
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import { IMAGE_COLUMNS, toImageRow } from './image-rows.js';
import type { FirmwareImageRow, FirmwareKind, ImageRecord, NewFirmwareImage } from './image-rows.js';
import type { AddedImage, Publication, PublishAnswer, RemovalAnswer } from './publication.js';

export class FirmwareImageStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds the image, or signs the earlier upload of the same kind, version and bytes with the new
   * signature.
   */
  add(image: NewFirmwareImage, by?: AuditSource): Promise<AddedImage> {
    const work = async (transaction: Queryable): Promise<AddedImage> => {
      // Serialises uploads of the same bytes, so that the second finds the first.
      await transaction.query({ text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))' }, [image.sha256]);
      const [earlier] = await transaction.query<ImageRecord>(
        {
          text: `SELECT ${IMAGE_COLUMNS} FROM firmware_image i
                 WHERE i.sha256 = $1 AND i.kind = $2::firmware_kind AND i.version = $3`,
        },
        [image.sha256, image.kind, storableText(image.version)],
      );
      if (earlier) return signAgain(transaction, toImageRow(earlier), image);
      await insert(transaction, image);
      const added = await find(transaction, image.id);
      if (added === undefined) throw new RegistryError('DATABASE_REFUSED', 'The firmware image was not written.');
      return { image: added, isNew: true, isSignedNow: false };
    };
    return audited(this.database, by, work, ({ image: added, isNew, isSignedNow }) => {
      if (!isNew && !isSignedNow) return [];
      const signedBy = added.signedBy && { signedBy: added.signedBy.fingerprint };
      return [actOn(added, isNew ? 'firmware.uploaded' : 'firmware.signed', image.uploadedAt, signedBy)];
    });
  }

  find(id: string): Promise<FirmwareImageRow | undefined> {
    return find(this.database, id);
  }

  /** In the order of the input. */
  async findMany(ids: readonly string[]): Promise<readonly (FirmwareImageRow | undefined)[]> {
    const records = await this.database.query<ImageRecord>(
      {
        name: 'firmware-images-by-id',
        text: `SELECT ${IMAGE_COLUMNS} FROM firmware_image i WHERE i.id = ANY($1::uuid[])`,
      },
      [ids.filter(isUuid)],
    );
    const images = new Map(records.map((record) => [record.id, toImageRow(record)]));
    return ids.map((id) => images.get(id));
  }

  /** The ids among these that exist. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ id: string }>(
      { text: 'SELECT id FROM firmware_image WHERE id = ANY($1::uuid[])' },
      [ids.filter(isUuid)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Latest first. */
  async page(request: PageRequest): Promise<Page<FirmwareImageRow>> {
    const after = decodeCursor('firmware-images', request, z.tuple([z.uuid()]));
    const records = await this.database.query<ImageRecord>(
      {
        name: 'firmware-images',
        text: `SELECT ${IMAGE_COLUMNS} FROM firmware_image i
               WHERE i.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') ORDER BY i.id DESC LIMIT $2`,
      },
      [after?.[0] ?? null, request.first + 1],
    );
    return toPage(records, request, 'firmware-images', (record) => [record.id], toImageRow);
  }

  /** Publishes for all of the boards or for none. A withdrawn image can be published again. */
  async publish(publication: Publication, by?: AuditSource): Promise<PublishAnswer> {
    const models = publication.models.map(storableText);
    const work = async (transaction: Queryable): Promise<PublishAnswer> => {
      // Publishing is rare. Two at a time could each take half of the boards.
      await transaction.query({ text: 'LOCK TABLE firmware_release IN SHARE ROW EXCLUSIVE MODE' }, []);
      const image = await find(transaction, publication.id);
      if (image === undefined) return { kind: 'NOT_FOUND' };
      if (publication.mustBeSigned === true && image.signedBy === undefined) return { kind: 'unsigned' };
      const refusal =
        (await conflictOf(transaction, image, models)) ?? (await foreignChipOf(transaction, image, models));
      if (refusal) return refusal;
      await transaction.query(
        {
          text: `INSERT INTO firmware_release (kind, model, version, image_id)
                 SELECT $1::firmware_kind, m, $2, $3 FROM unnest($4::text[]) AS m
                 ON CONFLICT DO NOTHING`,
        },
        [image.kind, image.version, image.id, models],
      );
      const notes = publication.notes === undefined ? null : storableText(publication.notes);
      await transaction.query(
        {
          text: `UPDATE firmware_image SET
                   published_at = to_timestamp($2::float8 / 1000), withdrawn_at = NULL, notes = coalesce($3, notes),
                   publisher_ids = CASE WHEN $4::text IS NULL OR $4 = ANY (publisher_ids) THEN publisher_ids
                                        ELSE publisher_ids || $4::text END
                 WHERE id = $1`,
        },
        [image.id, publication.at, notes, publication.publisherId],
      );
      return { kind: 'published', image: (await find(transaction, image.id)) ?? image };
    };
    return audited(this.database, by, work, (answer) =>
      answer.kind === 'published' ? [actOn(answer.image, 'firmware.published', publication.at, { models })] : [],
    );
  }

  /**
   * Frees its boards for another image of that version. The time of an earlier withdrawal stays.
   */
  async withdraw(id: string, at: number, by?: AuditSource): Promise<FirmwareImageRow | undefined> {
    if (!isUuid(id)) return undefined;
    const work = async (transaction: Queryable): Promise<FirmwareImageRow | undefined> => {
      await transaction.query({ text: 'DELETE FROM firmware_release WHERE image_id = $1' }, [id]);
      await transaction.query(
        {
          text: `UPDATE firmware_image SET publisher_ids = '{}',
                   withdrawn_at = coalesce(withdrawn_at, to_timestamp($2::float8 / 1000)) WHERE id = $1`,
        },
        [id, at],
      );
      return find(transaction, id);
    };
    return audited(this.database, by, work, (image) => (image ? [actOn(image, 'firmware.withdrawn', at)] : []));
  }

  /** Removes an image that is not published and that no job and no download has ever named. */
  async remove(id: string, at: number, by?: AuditSource): Promise<RemovalAnswer> {
    const image = await this.find(id);
    if (image === undefined) return { kind: 'NOT_FOUND' };
    const work = (transaction: Queryable): Promise<RemovalAnswer> => removeUnused(transaction, image);
    return audited(this.database, by, work, ({ kind }) =>
      kind === 'removed' ? [actOn(image, 'firmware.deleted', at)] : [],
    );
  }

  /** The image that is published for this board with this version. */
  async released(kind: FirmwareKind, model: string, version: string): Promise<FirmwareImageRow | undefined> {
    const [record] = await this.database.query<ImageRecord>(
      {
        name: 'released-image',
        text: `SELECT ${IMAGE_COLUMNS} FROM firmware_release r JOIN firmware_image i ON i.id = r.image_id
               WHERE r.kind = $1::firmware_kind AND r.model = $2 AND r.version = $3`,
      },
      [kind, storableText(model), storableText(version)],
    );
    return record && toImageRow(record);
  }
}

async function find(database: Queryable, id: string): Promise<FirmwareImageRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [record] = await database.query<ImageRecord>(
    { name: 'firmware-image', text: `SELECT ${IMAGE_COLUMNS} FROM firmware_image i WHERE i.id = $1` },
    [id],
  );
  return record && toImageRow(record);
}

async function removeUnused(transaction: Queryable, image: FirmwareImageRow): Promise<RemovalAnswer> {
  // A transaction that creates a job with the image holds a lock. This is a separate statement,
  // because the one that waits for the lock would not see the new job.
  await transaction.query({ text: 'SELECT FROM firmware_image WHERE id = $1 FOR UPDATE' }, [image.id]);
  const removed = await transaction.query(
    {
      text: `DELETE FROM firmware_image i WHERE i.id = $1
               AND NOT EXISTS (SELECT FROM firmware_release r WHERE r.image_id = i.id)
               AND NOT EXISTS (SELECT FROM job j WHERE j.firmware_image_id = i.id)
               AND NOT EXISTS (SELECT FROM download d WHERE d.image_id = i.id)
             RETURNING i.id`,
    },
    [image.id],
  );
  return removed.length === 1 ? { kind: 'removed', image } : { kind: 'IN_USE' };
}

function actOn(
  { chip, id, kind, sha256, version }: FirmwareImageRow,
  action: string,
  at: number,
  more: object = {},
): AuditedChange {
  return { action, subject: `firmware:${id}`, data: { kind, version, chip, sha256, ...more }, at };
}

async function insert(transaction: Queryable, image: NewFirmwareImage): Promise<void> {
  await transaction.query(
    {
      text: `INSERT INTO firmware_image (id, kind, file_name, project, version, chip, idf_version, size_bytes, sha256,
               elf_sha256, storage_key, uploaded_at, uploaded_by, signature, signed_by)
             VALUES ($1, $2::firmware_kind, $3, $4, $5, $6, $7, $8, $9, $10, $11,
               to_timestamp($12::float8 / 1000), $13, $14, $15)`,
    },
    [
      ...[
        image.id,
        image.kind,
        storableText(image.fileName),
        storableText(image.project),
        storableText(image.version),
        image.chip,
      ],
      ...[image.idfVersion ?? null, image.sizeBytes, image.sha256, image.elfSha256 ?? null, image.storageKey],
      ...[image.uploadedAt, storableText(image.uploadedBy), image.signature?.value, image.signature?.fingerprint],
    ],
  );
}

/** Adds or replaces the signature when the same bytes are uploaded again. */
async function signAgain(
  transaction: Queryable,
  earlier: FirmwareImageRow,
  { signature }: NewFirmwareImage,
): Promise<AddedImage> {
  if (signature === undefined || earlier.signedBy?.fingerprint === signature.fingerprint)
    return { image: earlier, isNew: false, isSignedNow: false };
  await transaction.query({ text: 'UPDATE firmware_image SET signature = $2, signed_by = $3 WHERE id = $1' }, [
    ...[earlier.id, signature.value, signature.fingerprint],
  ]);
  return { image: (await find(transaction, earlier.id)) ?? earlier, isNew: false, isSignedNow: true };
}

/** The first board that has another image of this version. */
async function conflictOf(
  transaction: Queryable,
  image: FirmwareImageRow,
  models: readonly string[],
): Promise<PublishAnswer | undefined> {
  const [taken] = await transaction.query<{ model: string; image_id: string }>(
    {
      text: `SELECT model, image_id FROM firmware_release
             WHERE kind = $1::firmware_kind AND version = $2 AND model = ANY($3::text[]) AND image_id <> $4
             ORDER BY model LIMIT 1`,
    },
    [image.kind, image.version, models, image.id],
  );
  const holder = taken && (await find(transaction, taken.image_id));
  return holder && taken && { kind: 'conflict', model: taken.model, holder };
}

/**
 * The first board without a device of the image's chip. Boards with unknown chips pass: each device
 * is checked before sending.
 */
async function foreignChipOf(
  transaction: Queryable,
  image: FirmwareImageRow,
  models: readonly string[],
): Promise<PublishAnswer | undefined> {
  if (image.kind === 'ASSETS') return undefined;
  const [foreign] = await transaction.query<{ model: string; chip: string }>(
    {
      text: `SELECT model, min(chip) AS chip FROM device WHERE model = ANY($1::text[]) AND chip IS NOT NULL
             GROUP BY model HAVING NOT bool_or(chip = $2) ORDER BY model LIMIT 1`,
    },
    [models, image.chip],
  );
  return foreign && { kind: 'foreign_chip', ...foreign };
}
