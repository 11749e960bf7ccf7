/**
 * Records of calls: committed in groups before the caller gets its answer, read together with the
 * targets of jobs.
 */
import { maskArguments } from '@flotilla/mcp';
import type { CallId, CallOutcome, DeviceId, HubProcessId } from '@flotilla/mcp';
import { z } from 'zod';
import { BatchWriter } from '../database/batch-writer.js';
import type { Database } from '../database/database.js';
import { storableText, toJson } from '../database/json-rows.js';
import { sql, SqlFile } from '../database/sql-file.js';
import { isUuid } from '../database/uuid-v7.js';
import type { Page, PageRequest } from '../page.js';
import { RegistryError } from '../registry-error.js';
import type { RegistryLogger } from '../registry-logger.js';
import type { WriterStatus } from '../registry.js';
import type { ArgumentSeal } from '../secrets/argument-seal.js';
import { boundedResult } from './bounded-result.js';
import { pageOfCalls, pagesOfCalls, type CallFilter } from './call-pages.js';
import { CALL_COLUMNS, CALL_ROW, TARGET_COLUMNS, TARGET_TABLES, toCallRow } from './call-rows.js';
import type { CallRow } from './call-rows.js';

/** A finished single call. */
export interface CallRecord {
  readonly id: CallId;
  readonly deviceId: DeviceId;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly outcome: CallOutcome;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly actor: string;
}

interface KeyClaim {
  /** The owner of the key (`principalRef`). */
  readonly principal: string;
  /** The owner's name in the record of the call. */
  readonly actor: string;
  readonly key: string;
  readonly requestHash: string;
  readonly callId: CallId;
  readonly deviceId: DeviceId;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly startedAt: number;
}

/**
 * `claimed`: the key is new. `conflict`: another request used it. `repeat`: the same request was
 * made before; without an outcome its call is not finished, and `processId` makes it.
 */
type KeyClaimed =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'repeat'; readonly call: CallRow; readonly processId?: HubProcessId | undefined }
  | { readonly kind: 'conflict' };

const ROWS_PER_WRITE = 1_000;
/** Calls that can end while PostgreSQL is not available: one in flight per device of a gateway. */
const DEPTH_MAX = 60_000;
/** At this depth no new calls start; the rest of the room is for calls in flight. */
const OVERLOADED_DEPTH = 20_000;
/** No new calls start while the oldest record waits this long, ms: PostgreSQL is not available. */
const OVERLOADED_LAG_MS = 2_000;
/** Maximum size of a message from a device. A longer result came another way and is cut. */
const RESULT_CHARACTERS_MAX = 64 * 1024;

const { json } = sql;

const INSERT = new SqlFile(new URL('./insert-calls.sql', import.meta.url), {
  name: 'insert-calls',
  parameters: {
    id: json,
    deviceId: json,
    tool: json,
    arguments: json,
    outcome: json,
    certainty: json,
    result: json,
    errorCode: json,
    errorMessage: json,
    rpcCode: json,
    startedAt: json,
    durationMs: json,
    actor: json,
  },
  row: {},
});

const FIND = new SqlFile(
  new URL('./find-call.sql', import.meta.url),
  { name: 'find-call', parameters: { id: sql.uuid() }, row: CALL_ROW },
  { callColumns: CALL_COLUMNS, targetColumns: TARGET_COLUMNS, targetTables: TARGET_TABLES },
);

const RELEASE_KEY = {
  name: 'release-call-key',
  text: 'DELETE FROM call_key WHERE principal = $1 AND key = $2 AND call_id = $3',
};

const callArguments = z.record(z.string(), z.unknown());

export class CallStore {
  readonly #seal: ArgumentSeal;
  readonly #holder: () => HubProcessId | undefined;
  readonly #writer: BatchWriter<CallRecord, undefined>;

  /** `holder` returns the process that makes the calls. */
  constructor(
    private readonly database: Database,
    { seal, holder }: { readonly seal: ArgumentSeal; readonly holder: () => HubProcessId | undefined },
    private readonly logger: RegistryLogger,
  ) {
    this.#seal = seal;
    this.#holder = holder;
    this.#writer = new BatchWriter<CallRecord, undefined>({
      name: 'call',
      write: (records) => this.#write(records),
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      // Callers wait, so nothing is delayed. Records gather while the previous statement runs.
      gatherMs: 0,
      logger,
    });
  }

  /** Resolves when the record is committed. */
  record(record: CallRecord): Promise<void> {
    return this.#writer.add(record);
  }

  /**
   * True while the writer is full or PostgreSQL has accepted no rows for seconds. Callers then
   * answer OVERLOADED.
   */
  get isOverloaded(): boolean {
    return this.#writer.depth >= OVERLOADED_DEPTH || this.#writer.status().lagMs >= OVERLOADED_LAG_MS;
  }

  /** Claims an idempotency key of a principal before its call is sent. */
  async claimKey(claim: KeyClaim): Promise<KeyClaimed> {
    const data = {
      ...claim,
      key: storableText(claim.key),
      deviceId: storableText(claim.deviceId),
      tool: storableText(claim.tool),
      requestHash: this.#seal.storedHash(claim.requestHash, claim.tool, claim.arguments),
      arguments: JSON.parse(toJson(maskArguments(claim.tool, claim.arguments))),
      startedAt: new Date(claim.startedAt),
      processId: this.#holder() ?? null,
    };
    let insert: Promise<unknown> | undefined;
    const inserted = this.database.ask((prisma) => {
      const made = prisma.callKey.createMany({ data, skipDuplicates: true });
      insert = made;
      return made;
    });
    const { count } = await inserted.catch((error: unknown) => {
      void this.#release(data, insert);
      throw error;
    });
    if (count === 1) return { kind: 'claimed' };
    const earlier = await this.earlierUse(claim);
    if (earlier !== undefined) return earlier;
    throw new RegistryError('DATABASE_REFUSED', 'The idempotency key was removed while it was claimed. Try again.');
  }

  /** The call of a failed claim is not sent, but PostgreSQL may store its key late. */
  async #release(
    { principal, key, callId }: Pick<KeyClaim, 'principal' | 'key' | 'callId'>,
    insert: Promise<unknown> | undefined,
  ): Promise<void> {
    await Promise.allSettled([insert]);
    try {
      await this.database.query(RELEASE_KEY, [principal, key, callId]);
    } catch (err) {
      this.logger.warn({ err, callId }, 'an idempotency key may stay claimed by a call that was not sent');
    }
  }

  /** The first call with this key; undefined for a new key. */
  async earlierUse(
    claim: Pick<KeyClaim, 'principal' | 'key' | 'requestHash'>,
  ): Promise<Exclude<KeyClaimed, { readonly kind: 'claimed' }> | undefined> {
    const earlier = await this.database.ask((prisma) =>
      prisma.callKey.findUnique({
        where: { principal_key: { principal: claim.principal, key: storableText(claim.key) } },
      }),
    );
    if (earlier === null) return undefined;
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
    const [record] = await FIND.run(this.database, { id });
    return record && toCallRow(record);
  }

  /** Latest first, including calls of jobs. */
  page(filter: CallFilter, page: PageRequest): Promise<Page<CallRow>> {
    return pageOfCalls(this.database, filter, page);
  }

  /**
   * A page per device, latest first, in the order of the input; `starts` bounds the time of the
   * calls.
   */
  pagesOf(
    deviceIds: readonly string[],
    page: PageRequest,
    starts?: readonly number[],
  ): Promise<readonly Page<CallRow>[]> {
    return pagesOfCalls(this.database, deviceIds, page, starts);
  }

  status(): WriterStatus {
    return this.#writer.status();
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async #write(records: readonly CallRecord[]): Promise<readonly undefined[]> {
    await INSERT.run(this.database, columnsOf(records));
    return records.map(() => undefined);
  }
}

function columnsOf(records: readonly CallRecord[]) {
  const column = (valueOf: (record: CallRecord) => unknown) => toJson(records.map(valueOf));
  return {
    id: column(({ id }) => id),
    deviceId: column(({ deviceId }) => deviceId),
    tool: column(({ tool }) => tool),
    arguments: column((record) => toJson(maskArguments(record.tool, record.arguments))),
    outcome: column(({ outcome }) => outcome.kind),
    certainty: column(({ outcome }) => outcome.certainty),
    result: column(({ outcome: { result } }) => result && toJson(boundedResult(result, RESULT_CHARACTERS_MAX))),
    errorCode: column(({ outcome }) => outcome.error?.code),
    errorMessage: column(({ outcome }) => outcome.error?.message),
    rpcCode: column(({ outcome }) => outcome.error?.rpcCode),
    startedAt: column(({ startedAt }) => startedAt),
    durationMs: column(({ durationMs }) => durationMs),
    actor: column(({ actor }) => actor),
  };
}
