/** The writes of sessions' lives, gathered over all devices of this process: five thousand that connect at once cost a few statements. */
import type { HubProcessId, ToolSetHash } from '@flotilla/mcp';
import { BatchWriter } from '../database/batch-writer.js';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import type {
  ClosedSession,
  ConnectingDevice,
  FormerState,
  OpenedSession,
  ReadyFacts,
  ReadyResult,
  ReadySession,
  ReportedState,
} from '../devices/device-types.js';
import type { WriterStatus } from '../registry.js';
import type { RegistryLogger } from '../registry-logger.js';
import { RegistryError } from '../registry-error.js';
import { CLOSED, CONNECTING, READY, REPORTED } from './session-statements.js';

/** Devices per statement: past this the statement's own cost is no longer noticed, and a lock is held for some 20 ms. */
const ROWS_PER_WRITE = 500;
/** More than a gateway's sessions; each waits for at most one write at a time. */
const DEPTH_MAX = 100_000;
/** A device that comes alone does not wait for long. */
const GATHER_MS = 3;
/** Devices come in storms: at 1,500 a second a moment of waiting makes one statement of a hundred, which costs PostgreSQL two thirds of what three of thirty do. */
const PAUSE_MS = 60;

export class PresenceWriter {
  readonly connecting: BatchWriter<ConnectingDevice, OpenedSession>;
  readonly ready: BatchWriter<ReadySession, ReadyResult>;
  readonly closed: BatchWriter<ClosedSession, boolean>;
  readonly reported: BatchWriter<ReportedState, FormerState>;

  /** `holder` is the process whose gateway the sessions are at, once it has a lease. */
  constructor(database: Queryable, holder: () => HubProcessId | undefined, logger: RegistryLogger) {
    const bounds = {
      keyOf: (row: { readonly deviceId: string }) => row.deviceId,
      rowsPerWrite: ROWS_PER_WRITE,
      depthMax: DEPTH_MAX,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      logger,
    };
    this.connecting = new BatchWriter<ConnectingDevice, OpenedSession>({
      ...bounds,
      name: 'session_connecting',
      write: (rows) => writeConnecting(database, rows, holder()),
    });
    this.ready = new BatchWriter<ReadySession, ReadyResult>({
      ...bounds,
      name: 'session_ready',
      write: (rows) => writeReady(database, rows),
    });
    this.closed = new BatchWriter<ClosedSession, boolean>({
      ...bounds,
      name: 'session_closed',
      write: (rows) => writeClosed(database, rows),
    });
    this.reported = new BatchWriter<ReportedState, FormerState>({
      ...bounds,
      name: 'reported_state',
      write: (rows) => writeReported(database, rows),
    });
  }

  writers(): readonly WriterStatus[] {
    return [this.connecting, this.ready, this.closed, this.reported].map((writer) => writer.status());
  }

  /** Closings last: they belong to sessions that the others opened. */
  async close(): Promise<void> {
    await this.connecting.close();
    await this.ready.close();
    await this.reported.close();
    await this.closed.close();
  }
}

async function writeConnecting(
  database: Queryable,
  rows: readonly ConnectingDevice[],
  holder: HubProcessId | undefined,
): Promise<readonly OpenedSession[]> {
  const input = rows.map((row) => ({
    id: row.deviceId,
    dialect: row.dialect,
    transport: row.transport,
    reachability: row.reachability,
    remote_address: row.remoteAddress,
    at: row.connectedAt,
    ...(row.ready && { ...readyColumns(row.ready), ready_at: row.ready.at }),
  }));
  const raised = await database.query<RaisedRecord>(CONNECTING, [toJson(input), holder ?? null]);
  const byId = new Map(raised.map((record) => [record.id, record]));
  return rows.map((row) => {
    const found = byId.get(row.deviceId);
    if (found === undefined)
      throw new RegistryError('DATABASE_REFUSED', `No epoch came back for the device ${row.deviceId}.`);
    return { epoch: found.epoch, ready: row.ready && readyResult(found.is_listed ? found : undefined) };
  });
}

async function writeReady(database: Queryable, rows: readonly ReadySession[]): Promise<readonly ReadyResult[]> {
  const input = rows.map((row) => ({ id: row.deviceId, epoch: row.epoch, ...readyColumns(row), at: row.at }));
  const former = await database.query<FormerRecord>(READY, [toJson(input)]);
  const byId = new Map(former.map((row) => [row.id, row]));
  return rows.map((row) => readyResult(byId.get(row.deviceId)));
}

function readyColumns(facts: ReadyFacts) {
  return {
    gateway_id: facts.gatewayId,
    model: facts.model,
    firmware_version: facts.firmwareVersion,
    tool_set_hash: facts.toolSetHash,
    tools_complete: facts.toolsComplete,
  };
}

interface FormerRecord {
  readonly id: string;
  readonly tool_set_hash: ToolSetHash | null;
  readonly firmware_version: string | null;
}

interface RaisedRecord extends FormerRecord {
  readonly epoch: number;
  /** False for a device that was removed. */
  readonly is_listed: boolean;
}

function readyResult(former: FormerRecord | undefined): ReadyResult {
  return {
    isCurrent: former !== undefined,
    previousToolSetHash: former?.tool_set_hash ?? undefined,
    previousFirmwareVersion: former?.firmware_version ?? undefined,
  };
}

async function writeClosed(database: Queryable, rows: readonly ClosedSession[]): Promise<readonly boolean[]> {
  const input = rows.map((row) => ({ id: row.deviceId, epoch: row.epoch, reason: row.reason, at: row.at }));
  const newest = new Set((await database.query<{ id: string }>(CLOSED, [toJson(input)])).map((row) => row.id));
  return rows.map((row) => newest.has(row.deviceId));
}

async function writeReported(database: Queryable, rows: readonly ReportedState[]): Promise<readonly FormerState[]> {
  const input = rows.map((row) => ({
    id: row.deviceId,
    epoch: row.epoch,
    tool: row.tool,
    state: row.state,
    at: row.at,
  }));
  const former = await database.query<{ id: string; state: FormerState['state'] | null }>(REPORTED, [toJson(input)]);
  const byId = new Map(former.map((row) => [row.id, row.state ?? undefined]));
  return rows.map((row) => ({ isCurrent: byId.has(row.deviceId), state: byId.get(row.deviceId) }));
}
