/** Rows of pictures that the hub keeps. The bytes are in the blob store, under `storageKey` and `thumbnailKey`. */
import type { DeviceId } from '@flotilla/mcp';
import type { DeviceFilter } from '../device-filter.js';
import type { Page, PageRequest } from '../page.js';

/** PHOTO is what a camera asked about, SNAPSHOT a device's screen, IMAGE what a person uploaded. */
export type UploadKind = 'PHOTO' | 'SNAPSHOT' | 'IMAGE';

export interface UploadRow {
  /** A UUIDv7 whose time is `at`. */
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
  /** The single-use permission that it came with. */
  readonly ticketId?: string;
}

export interface UploadStore {
  /** An id for an upload that begins now (ms since the Unix epoch). */
  newId(at: number): string;
  /** Its bytes are in the blob store by now. Undefined where the ticket was used before: nothing is written then. */
  add(upload: NewUpload): Promise<UploadRow | undefined>;
  /** Nothing happens where the upload is gone. */
  setThumbnail(id: string, thumbnailKey: string): Promise<void>;
  setAnswer(id: string, answer: string): Promise<void>;
  find(id: string): Promise<UploadRow | undefined>;
  findByTicket(ticketId: string): Promise<UploadRow | undefined>;
  /** Latest first; of one device where one is named, of those of `within` where it is given. */
  page(
    filter: { readonly deviceId?: string; readonly within?: DeviceFilter },
    page: PageRequest,
  ): Promise<Page<UploadRow>>;
  /** Those from before `until` (ms since the Unix epoch), oldest first. */
  olderThan(until: number, first: number): Promise<readonly UploadRow[]>;
  /** Which of these ids have a row. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Its bytes are gone by now. */
  remove(id: string): Promise<void>;
}
