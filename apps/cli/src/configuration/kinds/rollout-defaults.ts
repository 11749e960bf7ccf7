/** What the hub adds to waves and abort rules, of jobs and of desired states. */
import type { Added } from '../kind.js';

export const rolloutDefaults = {
  waves: [{ successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' }],
  abort: [{ scope: 'JOB', action: 'PAUSE' }],
} as const satisfies Readonly<Record<string, Added>>;
