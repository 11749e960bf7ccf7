/** The inputs and effects of a session machine, as data. Times are ms since the Unix epoch. */
import type { CloseReason, DeviceInfo, DiscoveredTools, ToolPage } from '@flotilla/mcp';
import type { DialectMessage } from '../dialect.js';
import type { SessionAnomaly, SessionCall, SessionState, SettledCall } from '../session-contract.js';

/** Receives a settled call. The machine carries it as data and never runs it. */
export type Settle = (settled: SettledCall) => void;

export type SessionInput = { readonly now: number } & (
  | { readonly kind: 'start' }
  | { readonly kind: 'message'; readonly message: DialectMessage }
  /** An answer that was recognised as a page of tools without parsing. */
  | { readonly kind: 'page'; readonly id: number; readonly page: ToolPage }
  | { readonly kind: 'call'; readonly call: SessionCall; readonly settle: Settle }
  | { readonly kind: 'refresh' }
  /** A deadline may have passed. */
  | { readonly kind: 'wake' }
  /** The transport accepted no byte of the request with this id. Precedes any other input. */
  | { readonly kind: 'sendFailed'; readonly id: number }
  | { readonly kind: 'transportClosed'; readonly reason: CloseReason }
  | { readonly kind: 'close'; readonly reason: CloseReason }
);

export type SessionEffect =
  | { readonly kind: 'send'; readonly id: number | undefined; readonly text: string; readonly proof?: string }
  | { readonly kind: 'settle'; readonly settle: Settle; readonly settled: SettledCall }
  | { readonly kind: 'closeTransport'; readonly reason: CloseReason }
  | { readonly kind: 'stateChanged'; readonly state: SessionState; readonly reason: CloseReason | undefined }
  | { readonly kind: 'greeted'; readonly info: DeviceInfo }
  | { readonly kind: 'toolsDiscovered'; readonly discovered: DiscoveredTools }
  | { readonly kind: 'discoveryFailed'; readonly message: string }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'deviceMessage'; readonly type: string; readonly message: Readonly<Record<string, unknown>> }
  | { readonly kind: 'lateOutcome'; readonly late: SettledCall }
  /** The device loses large requests, or answered one again. */
  | { readonly kind: 'largeRequests'; readonly areLost: boolean; readonly unanswered: number }
  | { readonly kind: 'anomaly'; readonly anomaly: SessionAnomaly; readonly detail: string };
