/** Boards that move here from a former server, and back. */
import type { DeviceId } from '@flotilla/mcp';
import { audited } from '../../audit/append-audit.js';
import type { AuditSource } from '../../audit/audit-entry.js';
import { BatchWriter } from '../../database/batch-writer.js';
import type { Database } from '../../database/database.js';
import { storableText, toJson } from '../../database/json-rows.js';
import { sql, SqlFile } from '../../database/sql-file.js';
import type { Page, PageRequest } from '../../page.js';
import type { RegistryLogger } from '../../registry-logger.js';
import type { WriterStatus } from '../../registry.js';
import { hashOf } from '../../secrets/secrets.js';
import { hubFor } from '../credentials/client-bindings.js';
import type { CredentialCache } from '../credentials/credential-cache.js';
import { addMoving, changeMoving, MOVING_BOARDS_MAX, releaseBoard } from './change-moving.js';
import { evictBoards } from './evict-boards.js';
import type {
  FormerBoard,
  MovingAnswer,
  MovingBoardRow,
  MovingCounts,
  MovingRoute,
  MovingState,
  PassedRequest,
} from './moving-board.js';
import { countMoving, pageOfMoving, routeOfMoving } from './read-moving.js';

const ROWS_PER_WRITE = 200;
/** More than the requests that the hub passes on at a time. */
const DEPTH_MAX = 2_000;
const GATHER_MS = 5;

const NOTE = new SqlFile(new URL('./note-passed.sql', import.meta.url), {
  name: 'note-passed-requests',
  parameters: { rows: sql.json, boardsMax: sql.bigint },
  row: { device_id: sql.text(), is_new: sql.boolean },
});

interface MovingBoardStoreDeps {
  readonly database: Database;
  readonly cache: CredentialCache;
  readonly logger: RegistryLogger;
  readonly now: () => number;
}

export class MovingBoardStore {
  readonly #passed: BatchWriter<PassedRequest, boolean>;

  constructor(private readonly deps: MovingBoardStoreDeps) {
    this.#passed = openPassedWriter(deps);
  }

  /** Undefined for a board that is not listed. */
  routeOf(deviceId: string): Promise<MovingRoute | undefined> {
    return routeOfMoving(this.deps.database, storableText(deviceId));
  }

  /**
   * Records a request that went to the former server, and what its answer said of the board.
   * Resolves to whether that added the board to the list.
   */
  notePassed(request: PassedRequest): Promise<boolean> {
    return this.#passed.add(request);
  }

  /** In the order of their ids. */
  page(request: PageRequest & { readonly state?: MovingState | undefined }): Promise<Page<MovingBoardRow>> {
    return pageOfMoving(this.deps.database, request);
  }

  counts(): Promise<MovingCounts> {
    return countMoving(this.deps.database);
  }

  /** Lists boards that an import names. Resolves to the ids that are listed then. */
  add(boards: readonly FormerBoard[], by?: AuditSource): Promise<readonly DeviceId[]> {
    const { database, now } = this.deps;
    const at = now();
    return audited(
      database,
      by,
      (transaction) => addMoving(transaction, boards, at),
      (ids) => ids.map((id) => ({ action: 'board.added', subject: `device:${id}`, data: {}, at })),
    );
  }

  /** From their next OTA request on, this hub answers the boards. All or none. */
  async move(deviceIds: readonly string[], movedBy: string, by?: AuditSource): Promise<MovingAnswer> {
    return this.#change('board.moved', by, (transaction, at) =>
      changeMoving(transaction, deviceIds, { to: 'here', at, by: movedBy }),
    );
  }

  /** From their next OTA request on, the former server answers the boards. All or none. */
  moveBack(deviceIds: readonly string[], by?: AuditSource): Promise<MovingAnswer> {
    return this.#change('board.moved_back', by, (transaction, at) =>
      changeMoving(transaction, deviceIds, { to: 'there', at }),
    );
  }

  /** Makes the credentials of a board void that went back. False where it did not. */
  async release(deviceId: DeviceId, remoteAddress: string | undefined): Promise<boolean> {
    const { cache, database, now } = this.deps;
    const at = now();
    const isReleased = await audited(
      database,
      hubFor(remoteAddress),
      (transaction) => releaseBoard(transaction, deviceId, at),
      (isDone) => (isDone ? [{ action: 'board.released', subject: `device:${deviceId}`, data: {}, at }] : []),
    );
    cache.forget([deviceId]);
    return isReleased;
  }

  /** Records that a released board came with its void credential. False where it is not one. */
  async noteAttempt(deviceId: DeviceId): Promise<boolean> {
    const text = `UPDATE moving_board SET attempted_at = to_timestamp($2::float8 / 1000)
                  WHERE device_id = $1 AND released_at IS NOT NULL AND moved_at IS NULL RETURNING device_id`;
    const rows = await this.deps.database.query({ name: 'note-released-attempt', text }, [deviceId, this.deps.now()]);
    return rows.length > 0;
  }

  writers(): readonly WriterStatus[] {
    return [this.#passed.status()];
  }

  close(): Promise<void> {
    return this.#passed.close();
  }

  #change(
    action: string,
    by: AuditSource | undefined,
    change: (transaction: Parameters<typeof changeMoving>[0], at: number) => Promise<MovingAnswer>,
  ): Promise<MovingAnswer> {
    const { database, now } = this.deps;
    const at = now();
    return audited(
      database,
      by,
      (transaction) => change(transaction, at),
      (answer) =>
        answer.kind === 'changed'
          ? answer.changed.map((id) => ({ action, subject: `device:${id}`, data: {}, at }))
          : [],
    );
  }
}

function openPassedWriter({ database, logger }: MovingBoardStoreDeps): BatchWriter<PassedRequest, boolean> {
  return new BatchWriter<PassedRequest, boolean>({
    name: 'passed_request',
    keyOf: ({ deviceId }) => deviceId,
    rowsPerWrite: ROWS_PER_WRITE,
    depthMax: DEPTH_MAX,
    gatherMs: GATHER_MS,
    logger,
    write: (requests) => writePassed(database, requests),
  });
}

/** One statement, unless the list is full. */
async function writePassed(database: Database, requests: readonly PassedRequest[]): Promise<readonly boolean[]> {
  const isNew = new Map<string, boolean>();
  const note = async (some: readonly PassedRequest[]) => {
    const rows = await NOTE.run(database, { rows: toJson(some.map(toRow)), boardsMax: MOVING_BOARDS_MAX });
    for (const row of rows) isNew.set(row.device_id, row.is_new);
  };
  await note(requests);
  const left = requests.filter(({ deviceId, mayBeAdded }) => mayBeAdded && !isNew.has(deviceId));
  if (left.length > 0 && (await evictBoards(database, left.length, MOVING_BOARDS_MAX)) > 0) await note(left);
  return requests.map(({ deviceId }) => isNew.get(deviceId) === true);
}

function toRow({ deviceId, clientUuid, model, firmwareVersion, at, answer, mayBeAdded }: PassedRequest) {
  return {
    id: deviceId,
    client_uuid_hash: hashOf(clientUuid),
    model,
    firmware_version: firmwareVersion,
    at,
    answered: answer !== undefined,
    bound: answer?.bound,
    may_be_added: mayBeAdded,
  };
}
