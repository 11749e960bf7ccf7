/**
 * Firmware images and the boards that they are published for. Few rows, rare writes. `by` adds a
 * change to the audit trail. Reads are SQL, because they join the boards and the signing key.
 */
import { z } from 'zod';
import { audited } from '../audit/append-audit.js';
import type { AuditedChange } from '../audit/audit-entry.js';
import type { AuditSource } from '../audit/audit-entry.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { containsPattern } from '../database/sql-parameters.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Prisma } from '../generated/prisma/client.js';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import { IMAGE_COLUMNS, toImageRow } from './image-rows.js';
import type { FirmwareImageRow, ImageRecord, NewFirmwareImage } from './image-rows.js';
import type { AddedImage, Publication, PublishAnswer, RemovalAnswer } from './publication.js';

/** The largest int of PostgreSQL. Counters of chips end at 32. */
const INT_MAX = 2 ** 31 - 1;

export class FirmwareImageStore {
  constructor(private readonly database: Database) {}

  /**
   * Adds the image, or completes the earlier upload of the same kind, version and bytes: with the
   * new signature, and with what the hub did not read at that time.
   */
  add(image: NewFirmwareImage, by?: AuditSource): Promise<AddedImage> {
    const work = async (transaction: Transaction): Promise<AddedImage> => {
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
      await transaction.ask((prisma) => prisma.firmwareImage.create({ data: columnsOf(image) }));
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
    const where = { id: { in: ids.filter(isUuid) } };
    const rows = await this.database.ask((prisma) => prisma.firmwareImage.findMany({ where, select: { id: true } }));
    return new Set(rows.map(({ id }) => id));
  }

  /** Latest first. `search` is a text in the project, the version, the file name or a board. */
  async page(request: PageRequest, search?: string): Promise<Page<FirmwareImageRow>> {
    const after = decodeCursor('firmware-images', request, z.tuple([z.uuid()]));
    const records = await this.database.query<ImageRecord>(
      {
        name: 'firmware-images',
        text: `SELECT ${IMAGE_COLUMNS} FROM firmware_image i
               WHERE i.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                 AND ($3::text IS NULL
                   OR lower(concat_ws(E'\\n', i.project || ' ' || i.version, i.file_name)) LIKE lower($3)
                   OR EXISTS (SELECT FROM firmware_release r WHERE r.image_id = i.id AND lower(r.model) LIKE lower($3)))
               ORDER BY i.id DESC LIMIT $2`,
      },
      [after?.[0] ?? null, request.first + 1, search === undefined ? null : containsPattern(storableText(search))],
    );
    return toPage(records, request, 'firmware-images', (record) => [record.id], toImageRow);
  }

  /** Publishes for all of the boards or for none. A withdrawn image can be published again. */
  async publish(publication: Publication, by?: AuditSource): Promise<PublishAnswer> {
    const models = publication.models.map(storableText);
    const work = async (transaction: Transaction): Promise<PublishAnswer> => {
      // Publishing is rare. Two at a time could each take half of the boards.
      await transaction.query({ text: 'LOCK TABLE firmware_release IN SHARE ROW EXCLUSIVE MODE' }, []);
      const image = await find(transaction, publication.id);
      if (image === undefined) return { kind: 'NOT_FOUND' };
      if (publication.mustBeSigned === true && image.signedBy === undefined) return { kind: 'unsigned' };
      const refusal =
        (await conflictOf(transaction, image, models)) ?? (await foreignChipOf(transaction, image, models));
      if (refusal) return refusal;
      await transaction.ask((prisma) => release(prisma, image, { ...publication, models }));
      return { kind: 'published', image: (await find(transaction, image.id)) ?? image };
    };
    const data = { models, ...(publication.replacesModels === true && { replacesModels: true }) };
    return audited(this.database, by, work, (answer) =>
      answer.kind === 'published' ? [actOn(answer.image, 'firmware.published', publication.at, data)] : [],
    );
  }

  /**
   * Frees its boards for another image of that version. The time of an earlier withdrawal stays.
   */
  async withdraw(id: string, at: number, by?: AuditSource): Promise<FirmwareImageRow | undefined> {
    if (!isUuid(id)) return undefined;
    const work = async (transaction: Transaction): Promise<FirmwareImageRow | undefined> => {
      await transaction.ask(async (prisma) => {
        await prisma.firmwareRelease.deleteMany({ where: { imageId: id } });
        await prisma.firmwareImage.updateMany({ where: { id }, data: { publisherIds: [] } });
        const stillOffered = { id, withdrawnAt: null };
        await prisma.firmwareImage.updateMany({ where: stillOffered, data: { withdrawnAt: new Date(at) } });
      });
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

function columnsOf({
  signature,
  uploadedAt,
  secureVersion,
  minChipRevision,
  maxChipRevision,
  flashMode,
  secureBootKeys,
  ...image
}: NewFirmwareImage): Prisma.FirmwareImageCreateInput {
  return {
    ...image,
    idfVersion: image.idfVersion ?? null,
    elfSha256: image.elfSha256 ?? null,
    secureVersion: secureVersion === undefined ? null : Math.min(secureVersion, INT_MAX),
    minChipRevision: minChipRevision ?? null,
    maxChipRevision: maxChipRevision ?? null,
    flashMode: flashMode ?? null,
    ...(secureBootKeys !== undefined && { secureBootKeys: [...secureBootKeys] }),
    fileName: storableText(image.fileName),
    project: storableText(image.project),
    version: storableText(image.version),
    uploadedBy: storableText(image.uploadedBy),
    uploadedAt: new Date(uploadedAt),
    signature: signature?.value ?? null,
    signedBy: signature?.fingerprint ?? null,
  };
}

/** Adds or replaces the boards, and adds the publisher once. */
async function release(
  prisma: Prisma.TransactionClient,
  { id, kind, version, publisherIds = [] }: FirmwareImageRow,
  { models, replacesModels = false, notes, at, publisherId }: Publication,
): Promise<void> {
  if (replacesModels)
    await prisma.firmwareRelease.deleteMany({ where: { imageId: id, model: { notIn: [...models] } } });
  const data = models.map((model) => ({ kind, model, version, imageId: id }));
  await prisma.firmwareRelease.createMany({ data, skipDuplicates: true });
  const isNew = publisherId !== undefined && !publisherIds.includes(publisherId);
  await prisma.firmwareImage.update({
    where: { id },
    data: {
      publishedAt: new Date(at),
      withdrawnAt: null,
      ...(notes === undefined ? {} : { notes: storableText(notes) }),
      ...(isNew ? { publisherIds: { push: publisherId } } : {}),
    },
  });
}

/** Adds or replaces the signature when the same bytes are uploaded again. */
async function signAgain(
  transaction: Transaction,
  earlier: FirmwareImageRow,
  image: NewFirmwareImage,
): Promise<AddedImage> {
  const { signature } = image;
  const isSignedNow = signature !== undefined && earlier.signedBy?.fingerprint !== signature.fingerprint;
  const signed = isSignedNow ? { signature: signature.value, signedBy: signature.fingerprint } : {};
  const data = { ...missingFacts(earlier, image), ...signed };
  if (Object.keys(data).length === 0) return { image: earlier, isNew: false, isSignedNow };
  await transaction.ask((prisma) => prisma.firmwareImage.updateMany({ where: { id: earlier.id }, data }));
  return { image: (await find(transaction, earlier.id)) ?? earlier, isNew: false, isSignedNow };
}

/** What the bytes say, and the hub did not read when they were first uploaded. */
function missingFacts(earlier: FirmwareImageRow, image: NewFirmwareImage): Prisma.FirmwareImageUpdateManyMutationInput {
  const facts = ['idfVersion', 'elfSha256', 'secureVersion', 'minChipRevision', 'maxChipRevision'] as const;
  const columns = columnsOf(image);
  return Object.fromEntries(
    [...facts, 'flashMode' as const, 'secureBootKeys' as const]
      .filter((fact) => earlier[fact] === undefined && image[fact] !== undefined)
      .map((fact) => [fact, columns[fact]]),
  );
}

/** The first board that has another image of this version. */
async function conflictOf(
  transaction: Transaction,
  { id, kind, version }: FirmwareImageRow,
  models: readonly string[],
): Promise<PublishAnswer | undefined> {
  const where = { kind, version, model: { in: [...models] }, imageId: { not: id } };
  const taken = await transaction.ask((prisma) =>
    prisma.firmwareRelease.findFirst({ where, orderBy: { model: 'asc' } }),
  );
  const holder = taken && (await find(transaction, taken.imageId));
  return holder && taken ? { kind: 'conflict', model: taken.model, holder } : undefined;
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
