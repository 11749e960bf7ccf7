/**
 * Rows of stored pictures. The bytes are in the blob store, under `storageKey` and `thumbnailKey`.
 */
import type { DeviceId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { z } from 'zod';
import { historyScopeOf } from '../access-scope/history-scope.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { isUuid, lowestUuidOf, timeOfUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Upload } from '../generated/prisma/client.js';
import type { Page, PageRequest } from '../page.js';

/**
 * PHOTO: from a camera, with a question. SNAPSHOT: the screen of a device. IMAGE: uploaded by a
 * person.
 */
export type UploadKind = 'PHOTO' | 'SNAPSHOT' | 'IMAGE';

export interface UploadRow {
  /** A UUIDv7 with the time `at`. */
  readonly id: string;
  readonly deviceId: DeviceId | undefined;
  readonly kind: UploadKind;
  readonly contentType: string;
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** ms since the Unix epoch. */
  readonly at: number;
  readonly storageKey: string;
  readonly thumbnailKey: string | undefined;
  readonly question: string | undefined;
  readonly answer: string | undefined;
}

export interface NewUpload extends Omit<UploadRow, 'at' | 'thumbnailKey' | 'answer'> {
  /** The single-use permission of the upload. */
  readonly ticketId?: string;
}

const UNIQUE_VIOLATION = 'P2002';

/** The columns, with the names of Prisma. */
const COLUMNS = `u.id, u.device_id AS "deviceId", u.kind, u.content_type AS "contentType",
  u.size_bytes AS "sizeBytes", u.sha256, u.storage_key AS "storageKey", u.thumbnail_key AS "thumbnailKey", u.question,
  u.answer, u.ticket_id AS "ticketId"`;

export class UploadStore {
  constructor(private readonly database: Database) {}

  /** An id for an upload that begins at this time, ms since the Unix epoch. */
  newId(at: number): string {
    return v7({ msecs: at });
  }

  /**
   * Called once the bytes are in the blob store. Writes nothing and resolves to undefined if the
   * ticket was used before.
   */
  async add(upload: NewUpload): Promise<UploadRow | undefined> {
    const question = upload.question === undefined ? null : storableText(upload.question);
    const data = { ...upload, question, deviceId: upload.deviceId ?? null, ticketId: upload.ticketId ?? null };
    const record = await this.database.ask((prisma) =>
      prisma.upload.create({ data }).catch((error: unknown) => {
        if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === UNIQUE_VIOLATION) return undefined;
        throw error;
      }),
    );
    return record && toUpload(record);
  }

  async setThumbnail(id: string, thumbnailKey: string): Promise<void> {
    await this.database.ask((prisma) => prisma.upload.updateMany({ where: { id }, data: { thumbnailKey } }));
  }

  async setAnswer(id: string, answer: string): Promise<void> {
    await this.database.ask((prisma) =>
      prisma.upload.updateMany({ where: { id }, data: { answer: storableText(answer) } }),
    );
  }

  async find(id: string): Promise<UploadRow | undefined> {
    if (!isUuid(id)) return undefined;
    const record = await this.database.ask((prisma) => prisma.upload.findUnique({ where: { id } }));
    return record === null ? undefined : toUpload(record);
  }

  async findByTicket(ticketId: string): Promise<UploadRow | undefined> {
    if (!isUuid(ticketId)) return undefined;
    const record = await this.database.ask((prisma) => prisma.upload.findUnique({ where: { ticketId } }));
    return record === null ? undefined : toUpload(record);
  }

  /** Latest first. */
  async page(
    { deviceId, within }: { readonly deviceId?: string; readonly within?: DeviceFilter },
    request: PageRequest,
  ): Promise<Page<UploadRow>> {
    const after = decodeCursor('uploads', request, z.tuple([z.uuid()]));
    const parameters: unknown[] = [];
    const conditions =
      within === undefined
        ? ['TRUE']
        : [(await historyScopeOf(this.database, within))('u.device_id', { uuid: 'u.id' }, parameters)];
    if (deviceId !== undefined) conditions.push(`u.device_id = ${bind(parameters, storableText(deviceId))}`);
    if (after !== undefined) conditions.push(`u.id < ${bind(parameters, after[0])}::uuid`);
    const records = await this.database.query<Upload>(
      {
        text: `SELECT ${COLUMNS} FROM upload u WHERE ${conditions.join(' AND ')}
               ORDER BY u.id DESC LIMIT ${bind(parameters, request.first + 1)}`,
      },
      parameters,
    );
    return toPage(records, request, 'uploads', ({ id }) => [id], toUpload);
  }

  /** Uploads from before `until`, oldest first. */
  async olderThan(until: number, first: number): Promise<readonly UploadRow[]> {
    const where = { id: { lt: lowestUuidOf(until) } };
    const records = await this.database.ask((prisma) =>
      prisma.upload.findMany({ where, orderBy: { id: 'asc' }, take: first }),
    );
    return records.map(toUpload);
  }

  /** The ids among these that have a row. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const where = { id: { in: ids.filter(isUuid) } };
    const records = await this.database.ask((prisma) => prisma.upload.findMany({ where, select: { id: true } }));
    return new Set(records.map(({ id }) => id));
  }

  /** Called once the bytes are removed. */
  async remove(id: string): Promise<void> {
    await this.database.ask((prisma) => prisma.upload.deleteMany({ where: { id } }));
  }
}

function toUpload({ deviceId, thumbnailKey, question, answer, ...record }: Upload): UploadRow {
  const { id, kind, contentType, sizeBytes, sha256, storageKey } = record;
  return {
    id,
    kind,
    contentType,
    sizeBytes,
    sha256,
    storageKey,
    at: timeOfUuid(id),
    deviceId: (deviceId ?? undefined) as DeviceId | undefined,
    thumbnailKey: thumbnailKey ?? undefined,
    question: question ?? undefined,
    answer: answer ?? undefined,
  };
}
