export type { Clock } from './clock.js';
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
