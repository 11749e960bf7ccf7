/** Downloads: one row per device and job. Progress is written in batches while bytes are sent. */
import type { HubProcessId } from '@flotilla/mcp';
import { BatchWriter } from '../database/batch-writer.js';
import type { Database } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { sql, SqlFile } from '../database/sql-file.js';
import { isUuid } from '../database/uuid-v7.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { DOWNLOAD_COLUMNS, IMAGE_COLUMNS, toDownloadRow, toImageRow } from './image-rows.js';
import type { DownloadRecord, DownloadRow, FirmwareImageRow, ImageRecord, NewDownload } from './image-rows.js';
import { wastedDownloads } from './wasted-downloads.js';

/** Serves no download: one that a living process has cut has it as its server. */
export const NO_PROCESS = '00000000-0000-0000-0000-000000000000' as HubProcessId;

/** Progress of one download since its last report. */
export interface DownloadProgress {
  readonly id: string;
  readonly requests: number;
  readonly bytes: number;
  readonly isComplete: boolean;
  /**
   * The process that serves the download from now on. If it ends before the download, or is
   * `NO_PROCESS`, the hub has cut the download.
   */
  readonly serverId?: HubProcessId;
  /** Whether the device or its network ended the download before its last byte. */
  readonly isBrokenOff?: boolean;
  readonly at: number;
}

/** A device in a roll-out. */
export interface DownloadTarget {
  readonly jobId: string;
  readonly deviceId: string;
}

const ROWS_PER_WRITE = 500;
/** Several reports of each concurrent download. */
const DEPTH_MAX = 5_000;
/** No caller waits for a report. */
const GATHER_MS = 50;

const PROGRESS = new SqlFile(new URL('./write-progress.sql', import.meta.url), {
  name: 'download-progress',
  parameters: { rows: sql.json },
  row: {},
});

export class DownloadStore {
  readonly #database: Database;
  readonly #writer: BatchWriter<DownloadProgress, undefined>;

  constructor(database: Database, logger: RegistryLogger) {
    this.#database = database;
    this.#writer = new BatchWriter<DownloadProgress, undefined>({
      name: 'download',
      keyOf: ({ id }) => id,
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      gatherMs: GATHER_MS,
      logger,
      write: async (rows) => {
        const input = rows.map(({ id, requests, bytes, isComplete, serverId, isBrokenOff, at }) => ({
          id,
          requests,
          bytes,
          is_complete: isComplete,
          at,
          server_id: serverId,
          is_broken_off: isBrokenOff,
        }));
        await PROGRESS.run(database, { rows: toJson(input) });
        return rows.map(() => undefined);
      },
    });
  }

  async add({ id, imageId, deviceId, jobId, expiresAt }: NewDownload): Promise<void> {
    await this.#database.query(
      {
        name: 'add-download',
        text: `INSERT INTO download (id, image_id, device_id, job_id, expires_at)
               VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000))`,
      },
      [id, imageId, storableText(deviceId), jobId, expiresAt],
    );
  }

  async find(id: string): Promise<{ readonly download: DownloadRow; readonly image: FirmwareImageRow } | undefined> {
    if (!isUuid(id)) return undefined;
    const [record] = await this.#database.query<ImageRecord & Omit<DownloadRecord, 'id' | 'image_id'>>(
      {
        name: 'find-download',
        text: `SELECT ${IMAGE_COLUMNS}, d.device_id, d.job_id, d.expires_at, d.requests,
                 d.bytes_served::float8 AS bytes_served, d.started_at, d.last_byte_at, d.completed_at
               FROM download d JOIN firmware_image i ON i.id = d.image_id WHERE d.id = $1`,
      },
      [id],
    );
    return record && { download: toDownloadRow({ ...record, id, image_id: record.id }), image: toImageRow(record) };
  }

  /** The downloads of distinct targets, latest first. */
  async ofTargets(targets: readonly DownloadTarget[]): Promise<readonly DownloadRow[]> {
    const known = targets.filter(({ jobId }) => isUuid(jobId));
    const records = await this.#database.query<DownloadRecord>(
      {
        name: 'downloads-of-targets',
        text: `SELECT ${DOWNLOAD_COLUMNS} FROM download d
               JOIN unnest($1::uuid[], $2::text[]) AS t(job_id, device_id)
                 ON d.job_id = t.job_id AND d.device_id = t.device_id ORDER BY d.id DESC`,
      },
      [known.map(({ jobId }) => jobId), known.map(({ deviceId }) => storableText(deviceId))],
    );
    return records.map(toDownloadRow);
  }

  /** Resolves when the progress is written. */
  async progress(progress: DownloadProgress): Promise<void> {
    await this.#writer.add(progress);
  }

  /**
   * Counts how often the device fetched the whole image, in downloads active since then, without
   * keeping it. Bytes that it fetched again count again.
   */
  async countWasted(deviceId: string, imageId: string, since: number): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(
      {
        name: 'count-wasted-downloads',
        text: `SELECT ${wastedDownloads('$1', 'to_timestamp($3::float8 / 1000)')} AS count
               FROM firmware_image i WHERE i.id = $2`,
      },
      [storableText(deviceId), imageId, since],
    );
    return row?.count ?? 0;
  }

  writers(): readonly WriterStatus[] {
    return [this.#writer.status()];
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}
