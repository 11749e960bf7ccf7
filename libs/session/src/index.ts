export type { Clock } from './clock/clock.js';
export { withTimeout } from './clock/with-timeout.js';
export type {
  Session,
  SessionAnomaly,
  SessionCall,
  SessionLimits,
  SessionObserver,
  SessionState,
  SettledCall,
  ToolPageCache,
} from './session-contract.js';
export type { Dialect } from './dialect.js';
export { ManualClock } from './clock/manual-clock.js';
export type { LargeRequests } from './machine/machine-state.js';
export { SessionActor } from './session-actor.js';
export type { MessageTap } from './tapped-transport.js';
export { McpuDialect } from './mcpu/mcpu-dialect.js';
export { XiaozhiDialect } from './xiaozhi/xiaozhi-dialect.js';
