export type { Clock } from './clock/clock.js';
export { TimeoutError, withTimeout } from './clock/with-timeout.js';
export type {
  CallArguments,
  Session,
  SessionAnomaly,
  SessionCall,
  SessionLimits,
  SessionObserver,
  SessionState,
  SettledCall,
  ToolPageCache,
} from './session-contract.js';
export type { CallRefusal, DeviceError, Dialect, DialectMessage } from './dialect.js';
export { ManualClock } from './clock/manual-clock.js';
export type { LargeRequests } from './machine/machine-state.js';
export { SessionActor } from './session-actor.js';
export type { SessionOptions } from './session-actor.js';
export type { MessageDirection, MessageTap } from './tapped-transport.js';
export { defaultSessionLimits } from './session-limits.js';
export { McpuDialect } from './mcpu/mcpu-dialect.js';
export { XiaozhiDialect } from './xiaozhi/xiaozhi-dialect.js';
