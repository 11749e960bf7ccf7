/**
 * The writes in the life of a session: it connects, becomes ready, reports state, closes. Times are
 * ms since the Unix epoch.
 */
import type { DeviceId, DialectName, HubProcessId, ToolSetHash, TransportKind } from '@flotilla/mcp';
import type { Reachability } from '../device-filter.js';

/**
 * A new connection. It has `ready` if the session was ready before this was written; one write then
 * stores both.
 */
export interface ConnectingDevice {
  readonly deviceId: DeviceId;
  readonly dialect: DialectName;
  readonly transport: TransportKind;
  readonly reachability: Reachability;
  readonly remoteAddress: string | undefined;
  readonly connectedAt: number;
  readonly ready?: ReadyFacts | undefined;
}

export interface OpenedSession {
  readonly epoch: number;
  /** Given if the session was ready. */
  readonly ready: ReadyResult | undefined;
}

/**
 * What a ready session replaced. `isCurrent` is false if it has ended, is not the newest, or its
 * device was removed.
 */
export interface ReadyResult {
  readonly isCurrent: boolean;
  readonly previousToolSetHash: ToolSetHash | undefined;
  readonly previousFirmwareVersion: string | undefined;
}

/** The result of a status tool. */
export interface ReportedState {
  readonly deviceId: DeviceId;
  /** A report of an older session changes nothing. */
  readonly epoch: number;
  readonly tool: string;
  readonly state: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** The previous report of the same tool; `state` is undefined the first time. */
export interface FormerState {
  readonly isCurrent: boolean;
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** What the greeting and the listing reported. */
export interface ReadyFacts {
  readonly gatewayId: HubProcessId;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /** Undefined if the listing failed: the device keeps its previous tool set, marked stale. */
  readonly toolSetHash: ToolSetHash | undefined;
  readonly toolsComplete: boolean;
  readonly at: number;
}

/** Written when the session becomes ready, and again when the tools change. */
export interface ReadySession extends ReadyFacts {
  readonly deviceId: DeviceId;
  readonly epoch: number;
}

export interface ClosedSession {
  readonly deviceId: DeviceId;
  readonly epoch: number;
  readonly reason: string;
  readonly at: number;
}
