export type { CallError, CallOutcome, CallOutcomeKind, SendCertainty, ToolContent, ToolResult } from './call-outcome.js';
export type { CallErrorCode, DeviceFailureCode, NotSentCode, UnknownCode } from './error-codes.js';
export type { CallId, DeviceId, HubProcessId, JobId, ToolSetHash } from './ids.js';
export { linkedPair } from './in-memory-transport.js';
export type { Defer, LinkedPair } from './in-memory-transport.js';
export type { DeviceInfo, DeviceTool, DiscoveredTools, JsonSchema, ToolPage } from './tool.js';
export type { CloseReason, Transport } from './transport.js';
