import { readFileSync } from 'node:fs';
import type { HubProcess } from '@flotilla/test/hub/hub-process';

/** Resident memory of the hub process. */
export function residentBytes({ pid }: HubProcess): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) * 1_024;
}
