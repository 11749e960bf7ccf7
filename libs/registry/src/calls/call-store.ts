/** Records of calls: written by group commit before the caller is answered, read together with the targets of jobs. */
import { maskArguments } from '@flotilla/mcp';
import type { DeviceId, HubProcessId } from '@flotilla/mcp';
import { z } from 'zod';
import { BatchWriter } from '../database/batch-writer.js';
import type { Database } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import type { CallFilter, CallRecord, CallRow, CallStore } from './record-types.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { boundedResult } from './bounded-result.js';
import { pageOfCalls, pagesOfCalls } from './call-pages.js';
import { CALL_COLUMNS, TARGET_COLUMNS, TARGET_TABLES, toCallRow } from './call-rows.js';
import type { CallReadRecord } from './call-rows.js';

const ROWS_PER_WRITE = 1_000;
/** Calls that may end while PostgreSQL is away, one in flight for each of a gateway's devices. */
const DEPTH_MAX = 60_000;
/** From here on no new calls are started; those in flight find the rest of the room. */
const OVERLOADED_DEPTH = 20_000;
/** Likewise where the oldest record waits this long, ms: PostgreSQL is away, and callers would wait for it. */
const OVERLOADED_LAG_MS = 2_000;
/** What a device may send in one message; a longer result has come another way and is cut. */
const RESULT_CHARACTERS_MAX = 64 * 1024;

/** One JSON array per column: a third less work for PostgreSQL than one object per row, whose every member it looks up by name. */
const INSERT = {
  name: 'insert-calls',
  text: `INSERT INTO call (id, device_id, tool, arguments, outcome, certainty, result, error_code, error_message, rpc_code, started_at, duration_ms, actor)
         SELECT i.id::uuid, i.device_id, i.tool, i.arguments::jsonb, i.outcome::outcome, i.certainty::send_certainty, i.result::jsonb, i.error_code,
           i.error_message, i.rpc_code::int, to_timestamp(i.started_at::float8 / 1000), i.duration_ms::float8, i.actor
         FROM ROWS FROM (${Array.from({ length: 13 }, (_, index) => `json_array_elements_text($${String(index + 1)})`).join(', ')}) AS i(
           id, device_id, tool, arguments, outcome, certainty, result, error_code, error_message, rpc_code, started_at, duration_ms, actor)
         ON CONFLICT (id) DO NOTHING`,
};

const FIND = {
  name: 'find-call',
  text: `SELECT ${CALL_COLUMNS} FROM call c WHERE c.id = $1
         UNION ALL SELECT ${TARGET_COLUMNS} FROM ${TARGET_TABLES} WHERE t.listed_call_id = $1`,
};

const callArguments = z.record(z.string(), z.unknown());

type KeyClaim = Parameters<CallStore['claimKey']>[0];

export class PgCallStore implements CallStore {
  readonly #database: Database;
  readonly #seal: ArgumentSeal;
  readonly #holder: () => HubProcessId | undefined;
  readonly #writer: BatchWriter<CallRecord, undefined>;

  /** `holder`: the process that calls are made by. */
  constructor(
    database: Database,
    { seal, holder }: { readonly seal: ArgumentSeal; readonly holder: () => HubProcessId | undefined },
    logger: RegistryLogger,
  ) {
    this.#database = database;
    this.#seal = seal;
    this.#holder = holder;
    this.#writer = new BatchWriter<CallRecord, undefined>({
      name: 'call',
      write: (records) => this.#write(records),
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      // Somebody waits for each of these; company comes by itself while the statement before runs.
      gatherMs: 0,
      logger,
    });
  }

  record(record: CallRecord): Promise<void> {
    return this.#writer.add(record);
  }

  get isOverloaded(): boolean {
    return this.#writer.depth >= OVERLOADED_DEPTH || this.#writer.status().lagMs >= OVERLOADED_LAG_MS;
  }

  async claimKey(claim: KeyClaim): ReturnType<CallStore['claimKey']> {
    const { count } = await this.#database.ask((prisma) =>
      prisma.callKey.createMany({
        data: {
          ...claim,
          key: storableText(claim.key),
          deviceId: storableText(claim.deviceId),
          tool: storableText(claim.tool),
          requestHash: this.#seal.storedHash(claim.requestHash, claim.tool, claim.arguments),
          arguments: JSON.parse(toJson(maskArguments(claim.tool, claim.arguments))),
          startedAt: new Date(claim.startedAt),
          processId: this.#holder() ?? null,
        },
        skipDuplicates: true,
      }),
    );
    return count === 1 ? { kind: 'claimed' } : this.#earlierUse(claim);
  }

  async #earlierUse(claim: KeyClaim): ReturnType<CallStore['claimKey']> {
    const earlier = await this.#database.ask((prisma) =>
      prisma.callKey.findUnique({
        where: { principal_key: { principal: claim.principal, key: storableText(claim.key) } },
      }),
    );
    if (earlier === null)
      throw new RegistryError('DATABASE_REFUSED', 'An idempotency key was removed while it was claimed.');
    if (!this.#seal.isHashOf(earlier.requestHash, claim.requestHash)) return { kind: 'conflict' };
    const recorded = await this.find(earlier.callId);
    if (recorded !== undefined) return { kind: 'repeat', call: recorded };
    const unrecorded: CallRow = {
      id: earlier.callId,
      deviceId: earlier.deviceId as DeviceId,
      tool: earlier.tool,
      arguments: maskArguments(earlier.tool, callArguments.parse(earlier.arguments)),
      outcome: undefined,
      result: undefined,
      error: undefined,
      startedAt: earlier.startedAt.getTime(),
      durationMs: undefined,
      actor: earlier.actor,
      jobId: undefined,
    };
    const processId = (earlier.processId ?? undefined) as HubProcessId | undefined;
    return { kind: 'repeat', call: unrecorded, processId };
  }

  async find(id: string): Promise<CallRow | undefined> {
    if (!isUuid(id)) return undefined;
    const [record] = await this.#database.query<CallReadRecord>(FIND, [id]);
    return record && toCallRow(record);
  }

  page(filter: CallFilter, page: PageRequest): Promise<Page<CallRow>> {
    return pageOfCalls(this.#database, filter, page);
  }

  pagesOf(
    deviceIds: readonly string[],
    page: PageRequest,
    starts?: readonly number[],
  ): Promise<readonly Page<CallRow>[]> {
    return pagesOfCalls(this.#database, deviceIds, page, starts);
  }

  status(): WriterStatus {
    return this.#writer.status();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #write(records: readonly CallRecord[]): Promise<readonly undefined[]> {
    await this.#database.query(INSERT, columnsOf(records));
    return records.map(() => undefined);
  }
}

/** In the order of the statement's parameters. */
function columnsOf(records: readonly CallRecord[]): string[] {
  const column = (valueOf: (record: CallRecord) => unknown) => toJson(records.map(valueOf));
  return [
    column(({ id }) => id),
    column(({ deviceId }) => deviceId),
    column(({ tool }) => tool),
    column((record) => toJson(maskArguments(record.tool, record.arguments))),
    column(({ outcome }) => outcome.kind),
    column(({ outcome }) => outcome.certainty),
    column(({ outcome: { result } }) => result && toJson(boundedResult(result, RESULT_CHARACTERS_MAX))),
    column(({ outcome }) => outcome.error?.code),
    column(({ outcome }) => outcome.error?.message),
    column(({ outcome }) => outcome.error?.rpcCode),
    column(({ startedAt }) => startedAt),
    column(({ durationMs }) => durationMs),
    column(({ actor }) => actor),
  ];
}
