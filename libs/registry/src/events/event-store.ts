/** Events: accepted without waiting, written in batches, read page by page. */
import type { DeviceId } from '@flotilla/mcp';
import { z } from 'zod';
import { historyScopeOf } from '../access-scope/history-scope.js';
import { BatchWriter } from '../database/batch-writer.js';
import { decodeCursor, encodeCursor, toPage } from '../database/cursor.js';
import { isTransient, type Database, type Queryable } from '../database/database.js';
import { grouped } from '../database/grouped.js';
import { storableText } from '../database/json-rows.js';
import { bind } from '../database/sql-parameters.js';
import { lowestUuidOf, timeOfUuid } from '../database/uuid-v7.js';
import type { DeviceFilter } from '../device-filter.js';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import { insertEvents } from './insert-events.js';
import type { EventType } from './event-types.js';
import { RecordIds } from './record-ids.js';
import { SpillFile } from './spill-file.js';
import { typeCondition } from './type-patterns.js';

/** `id` is a UUIDv7 with the time `at` (ms since the Unix epoch). */
export interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly deviceId: DeviceId | undefined;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event before it has its id. */
export interface NewEvent extends Omit<EventRow, 'id'> {
  readonly type: EventType;
}

export interface EventFilter {
  readonly deviceId?: string;
  /** Patterns of types. */
  readonly types?: readonly string[];
  /** Patterns of types that are left out. */
  readonly exceptTypes?: readonly string[];
  readonly since?: number;
  readonly until?: number;
  /** The access scope of the viewer. */
  readonly within?: DeviceFilter;
}

/** `isPending`: webhooks wait for some of them. */
export interface InsertedEvents {
  readonly rows: readonly EventRow[];
  readonly isPending: boolean;
}

const ROWS_PER_WRITE = 1_000;
/** Events held in memory while PostgreSQL is not available or slow: some 20 MB. */
const MEMORY_EVENTS_MAX = 20_000;
const GATHER_MS = 20;
/** Further events go to the spill file up to this size. Above it they are dropped and counted. */
const SPILL_BYTES_MAX = 64 * 1024 * 1024;

const spilledEvent = z.object({
  id: z.uuid(),
  type: z.string(),
  deviceId: z.custom<DeviceId>((value) => typeof value === 'string').optional(),
  at: z.number(),
  data: z.record(z.string(), z.unknown()),
});

export class EventStore {
  readonly #database: Database;
  readonly #logger: RegistryLogger;
  readonly #ids = new RecordIds();
  readonly #writer: BatchWriter<EventRow, undefined>;
  readonly #spill: SpillFile<EventRow> | undefined;
  #draining: Promise<void> | undefined;
  #droppedTotal = 0;
  #isClosed = false;
  #onPending: (() => void) | undefined;

  /** Without a spill file, events above the limit of memory are dropped. */
  constructor(database: Database, spillFile: string | undefined, logger: RegistryLogger, closeWithinMs?: number) {
    this.#database = database;
    this.#logger = logger;
    this.#spill =
      spillFile === undefined
        ? undefined
        : new SpillFile(spillFile, SPILL_BYTES_MAX, logger, (rows) => this.#drop(rows));
    this.#writer = new BatchWriter<EventRow, undefined>({
      name: 'event',
      write: (rows) => this.#write(rows),
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: MEMORY_EVENTS_MAX,
      gatherMs: GATHER_MS,
      closeWithinMs,
      logger,
    });
  }

  /** Starts writing the events that an earlier process spilled. */
  async open(): Promise<void> {
    await this.#spill?.open();
    this.#drain();
  }

  /** Hands the event to the writer and never waits. */
  append(event: NewEvent): EventRow {
    const row: EventRow = { id: this.#ids.next(event.at), ...event };
    if (!this.#writer.isFull)
      this.#writer.add(row).then(
        () => {
          this.#drain();
        },
        (error: unknown) => {
          this.#spillOrDrop(row, error);
        },
      );
    else if (this.#spill?.add(row) !== true) this.#drop(1);
    return row;
  }

  /**
   * Writes events in the transaction of what they report: both commit together. `announce` them
   * after the commit.
   */
  async insertIn(transaction: Queryable, events: readonly NewEvent[]): Promise<InsertedEvents> {
    const rows = events.map((event) => ({ id: this.#ids.next(event.at), ...event }));
    return { rows, isPending: rows.length > 0 && (await insertEvents(transaction, rows)) };
  }

  /** Calls the listener of `whenPending` if webhooks wait for these events. */
  announce({ isPending }: InsertedEvents): void {
    if (isPending) this.#onPending?.();
  }

  /**
   * Calls the one listener after each write that leaves webhook deliveries pending. It must not
   * throw.
   */
  whenPending(listener: () => void): void {
    this.#onPending = listener;
  }

  /** The cursor that `page` gives an event of the feed. */
  cursorOf(event: Pick<EventRow, 'id' | 'at'>): string {
    return encodeCursor('events', [event.id]);
  }

  async page(filter: EventFilter, order: 'AT_ASC' | 'AT_DESC', request: PageRequest): Promise<Page<EventRow>> {
    const after = decodeCursor('events', request, z.tuple([z.uuid()]));
    const parameters: unknown[] = [];
    const conditions = ['TRUE'];
    if (filter.deviceId !== undefined)
      conditions.push(`e.device_id = ${bind(parameters, storableText(filter.deviceId))}`);
    if (filter.types !== undefined) conditions.push(typeCondition(filter.types, parameters));
    if (filter.exceptTypes !== undefined) conditions.push(`NOT ${typeCondition(filter.exceptTypes, parameters)}`);
    if (filter.since !== undefined) conditions.push(`e.id >= ${bind(parameters, lowestUuidOf(filter.since))}::uuid`);
    if (filter.until !== undefined) conditions.push(`e.id < ${bind(parameters, lowestUuidOf(filter.until))}::uuid`);
    if (filter.within !== undefined)
      conditions.push(
        (await historyScopeOf(this.#database, filter.within))('e.device_id', { uuid: 'e.id' }, parameters),
      );
    if (after !== undefined)
      conditions.push(`e.id ${order === 'AT_ASC' ? '>' : '<'} ${bind(parameters, after[0])}::uuid`);
    const records = await this.#database.query<EventRecord>(
      {
        text: `SELECT e.id, e.type, e.device_id, e.data FROM event e WHERE ${conditions.join(' AND ')}
               ORDER BY e.id ${order === 'AT_ASC' ? 'ASC' : 'DESC'} LIMIT ${bind(parameters, request.first + 1)}`,
      },
      parameters,
    );
    return toPage(records, request, 'events', (record) => [record.id], toEvent);
  }

  /**
   * A page per device, latest first, in the order of the input; `starts` bounds the time of the
   * events.
   */
  async pagesOf(
    deviceIds: readonly string[],
    request: PageRequest,
    starts?: readonly number[],
  ): Promise<readonly Page<EventRow>[]> {
    const after = decodeCursor('events', request, z.tuple([z.uuid()]));
    const ids = deviceIds.map(storableText);
    const isBounded = starts !== undefined;
    const wanted = isBounded ? 'unnest($1::text[], $4::uuid[]) AS w(id, first)' : 'unnest($1::text[]) AS w(id)';
    const records = await this.#database.query<EventRecord>(
      {
        name: `events-of-devices${isBounded ? '-since' : ''}`,
        text: `SELECT e.* FROM ${wanted} CROSS JOIN LATERAL (
                 SELECT e.id, e.type, e.device_id, e.data FROM event e
                 WHERE e.device_id = w.id AND e.id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
                   ${isBounded ? 'AND e.id >= w.first' : ''} ORDER BY e.id DESC LIMIT $3) e
               ORDER BY e.id DESC`,
      },
      [ids, after?.[0] ?? null, request.first + 1, ...(isBounded ? [starts.map(lowestUuidOf)] : [])],
    );
    return grouped(ids, records, (record) => record.device_id).map((own) =>
      toPage(own, request, 'events', (record) => [record.id], toEvent),
    );
  }

  status(): WriterStatus {
    const status = this.#writer.status();
    return { ...status, droppedTotal: this.#droppedTotal };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Begun first: the drain waits for rows that the writer gives up only now.
    const written = this.#writer.close();
    await this.#draining;
    await written;
    await this.#spill?.close();
  }

  async #write(rows: readonly EventRow[]): Promise<readonly undefined[]> {
    if (await insertEvents(this.#database, rows)) this.#onPending?.();
    return rows.map(() => undefined);
  }

  /** Moves rows of the spill file to the writer when it has room, without delaying new events. */
  #drain(): void {
    if (this.#spill === undefined || this.#spill.isEmpty || this.#draining !== undefined || this.#isClosed) return;
    this.#draining = this.#spill
      .drain(parseSpilled, async (row) => {
        if (this.#writer.depth >= ROWS_PER_WRITE || this.#isClosed)
          await this.#writer.add(row).catch((error: unknown) => {
            // It would end each drain, and the rows behind it would never be written.
            if (!(error instanceof RegistryError && error.code === 'DATABASE_REFUSED')) throw error;
            this.#drop(1);
          });
        else
          this.#writer.add(row).catch((error: unknown) => {
            this.#spillOrDrop(row, error);
          });
      })
      .catch((error: unknown) => {
        this.#logger.warn({ err: error }, 'could not write spilled events; trying again later');
      })
      .finally(() => {
        this.#draining = undefined;
      });
  }

  /** Events that PostgreSQL did not take until the stop wait for the next start. */
  #spillOrDrop(row: EventRow, error: unknown): void {
    if (!isTransient(error) || this.#spill?.add(row) !== true) this.#drop(1);
  }

  #drop(count: number): void {
    // Logs one line per 10,000 dropped events.
    if (this.#droppedTotal % 10_000 === 0)
      this.#logger.error(
        { droppedTotal: this.#droppedTotal + count },
        'dropping events: PostgreSQL refused them, or the writer and the spill file are full',
      );
    this.#droppedTotal += count;
  }
}

interface EventRecord {
  readonly id: string;
  readonly type: string;
  readonly device_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

function toEvent(record: EventRecord): EventRow {
  const deviceId = (record.device_id ?? undefined) as DeviceId | undefined;
  return { id: record.id, type: record.type, deviceId, at: timeOfUuid(record.id), data: record.data };
}

function parseSpilled(value: unknown): EventRow | undefined {
  const parsed = spilledEvent.safeParse(value);
  return parsed.success ? { ...parsed.data, deviceId: parsed.data.deviceId } : undefined;
}
