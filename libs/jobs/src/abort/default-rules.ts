/** Rules of a job whose creator gave none. [jobs §15] */
import type { Job } from '../job-types.js';
import type { AbortRule } from './abort-rule.js';

/** One device in ten that fails is more than chance. */
const failing: AbortRule = {
  outcomes: ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'],
  scope: 'JOB',
  ratio: 0.1,
  action: 'PAUSE',
};
/** Devices that do not come back from a canary are the reason to have one. */
const lost: AbortRule = { outcomes: ['UNKNOWN'], scope: 'WAVE', count: 3, action: 'PAUSE', onlyWave: 1 };

/** Only disruptive tools have any; only a job with waves has a canary to lose devices from. */
export function defaultAbortRules({ disruptive, waves }: Pick<Job, 'disruptive' | 'waves'>): readonly AbortRule[] {
  if (!disruptive) return [];
  return waves.length === 0 ? [failing] : [failing, lost];
}
