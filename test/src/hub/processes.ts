/** What of a hub is still running, found by its data folder. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Command lines of living processes that name the folder: the hub's own has it in its environment
 * only, its PostgreSQL and fleet as arguments.
 */
export function processesOf(dataDir: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${pid} ${readProcess(pid, 'cmdline')} ${readProcess(pid, 'environ')}`)
    .filter((line) => line.includes(dataDir));
}

/** A process may end while it is looked at. */
function readProcess(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
