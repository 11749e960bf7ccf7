export type { DeviceFilter, Dialect, Presence, Reachability, TransportKind } from './device-filter.js';
export type {
  ClosedSession,
  ConnectingDevice,
  DeviceOrder,
  DeviceRow,
  DeviceStore,
  FleetToolRow,
  ReadySession,
  SessionRow,
  StoredTool,
  ToolFilter,
  ToolSet,
  ToolSetStore,
  ToolSetUseRow,
} from './device-store.js';
export type { ClaimedTarget, FailureGroupRow, JobFence, JobStore, NewJob, TargetFlush, TargetRow, ToolSetVerdict } from './job-store.js';
export type { Page, PageRequest } from './page.js';
export type { CallFilter, CallRecord, CallRow, CallStore, EventFilter, EventRow, EventStore } from './record-stores.js';
export type { ApiKeyStore, Principal, ProcessLease, Registry, Scope, ToolPolicyStore, WriterStatus } from './registry.js';
