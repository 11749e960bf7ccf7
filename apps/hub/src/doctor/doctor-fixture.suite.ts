/** What checks of the doctor are given, and what they find wrong. */
import { readConfig } from '../settings/config.js';
import type { DoctorContext } from './doctor-context.js';
import type { Finding } from './finding.js';

export function contextOf(env: NodeJS.ProcessEnv, more: Partial<DoctorContext> = {}): DoctorContext {
  return { config: readConfig(env), hubPid: undefined, isAnswering: false, now: Date.now, ...more };
}

export const problemsOf = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status === 'problem').map(({ found }) => found);
