/**
 * Writes changes of sessions in batches over all devices of this process: 5,000 connections at once
 * cost a few statements.
 */
import type { HubProcessId } from '@flotilla/mcp';
import { BatchWriter, CLOSE_WITHIN_MS } from '../database/batch-writer.js';
import type { Queryable } from '../database/database.js';
import { toJson } from '../database/json-rows.js';
import type { RowOf } from '../database/sql-file.js';
import type {
  ClosedSession,
  ConnectingDevice,
  FormerState,
  OpenedSession,
  ReadyFacts,
  ReadyResult,
  ReadySession,
  ReportedState,
} from './session-changes.js';
import type { WriterStatus } from '../registry.js';
import type { RegistryLogger } from '../registry-logger.js';
import { RegistryError } from '../registry-error.js';
import { CLOSED, CONNECTING, READY, REPORTED } from './session-statements.js';

/** Devices per statement. Larger batches save nothing, and hold their locks for more than 20 ms. */
const ROWS_PER_WRITE = 500;
/** More than the sessions of a gateway. Each waits for at most one write at a time. */
const DEPTH_MAX = 100_000;
/** A single device waits only this long for others. */
const GATHER_MS = 3;
/**
 * In a storm of 1,500 devices per second, one statement of 100 costs two thirds of three statements
 * of 30.
 */
const PAUSE_MS = 60;

export class SessionWriter {
  readonly connecting: BatchWriter<ConnectingDevice, OpenedSession>;
  readonly ready: BatchWriter<ReadySession, ReadyResult>;
  readonly closed: BatchWriter<ClosedSession, boolean>;
  readonly reported: BatchWriter<ReportedState, FormerState>;

  /** `holder` returns the process that holds the sessions, once it has a lease. */
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

  /**
   * Closes `closed` last, because the other writers open the sessions that it closes. All give up
   * what is not written at the time `by`.
   */
  async close(by = Date.now() + CLOSE_WITHIN_MS): Promise<void> {
    for (const writer of [this.connecting, this.ready, this.reported, this.closed]) await writer.close(by);
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
  const raised = await CONNECTING.run(database, { rows: toJson(input), holder: holder ?? null });
  const byId = new Map(raised.map((record) => [record.id, record]));
  return rows.map((row) => {
    const found = byId.get(row.deviceId);
    if (found === undefined)
      throw new RegistryError('DATABASE_REFUSED', `PostgreSQL returned no epoch for the device ${row.deviceId}.`);
    return { epoch: found.epoch, ready: row.ready && readyResult(found.is_listed ? found : undefined) };
  });
}

async function writeReady(database: Queryable, rows: readonly ReadySession[]): Promise<readonly ReadyResult[]> {
  const input = rows.map((row) => ({ id: row.deviceId, epoch: row.epoch, ...readyColumns(row), at: row.at }));
  const former = await READY.run(database, { rows: toJson(input) });
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

function readyResult(former: RowOf<typeof READY> | undefined): ReadyResult {
  return {
    isCurrent: former !== undefined,
    previousToolSetHash: former?.tool_set_hash ?? undefined,
    previousFirmwareVersion: former?.firmware_version ?? undefined,
  };
}

async function writeClosed(database: Queryable, rows: readonly ClosedSession[]): Promise<readonly boolean[]> {
  const input = rows.map((row) => ({ id: row.deviceId, epoch: row.epoch, reason: row.reason, at: row.at }));
  const newest = new Set((await CLOSED.run(database, { rows: toJson(input) })).map((row) => row.id));
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
  const former = await REPORTED.run(database, { rows: toJson(input) });
  const byId = new Map(former.map((row) => [row.id, row.state ?? undefined]));
  return rows.map((row) => ({ isCurrent: byId.has(row.deviceId), state: byId.get(row.deviceId) }));
}
