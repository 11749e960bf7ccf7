export { complianceEventOf } from './compliance-event.js';
export { hasConverged } from './convergence.js';
export { decide } from './decide.js';
export { desiredWindowAt } from './desired-window.js';
export type { DesiredWindow } from './desired-window.js';
export { abandonTry, endTry, failRead, startTry } from './end-try.js';
export type { TryEnd } from './end-try.js';
export { complianceStates, dueAtOf, outOfSyncStates } from './entry.js';
export type {
  ComplianceState,
  Decision,
  DesiredStateMode,
  DriftAction,
  Entry,
  Facts,
  KnownValue,
  LookCause,
  Wanted,
} from './entry.js';
export { freshMs, sweepMs } from './limits.js';
export { blocksOf } from './precedence.js';
export type { Contender } from './precedence.js';
export { windowsOverlap } from './windows-overlap.js';
