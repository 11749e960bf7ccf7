/**
 * Checks whether a process is still the same one: process ids are used again, after a restart of a
 * container even at once.
 */
import { readFile, readlink } from 'node:fs/promises';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is alive, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Whether the process with this mark lives. Without a mark, or where the system hides the process,
 * as from a service under systemd, each process with that id counts.
 */
export async function isSameProcess(pid: number, mark: string, proc = '/proc'): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const current = await startMark(pid, proc);
  return mark === '' || current === '' || current === mark;
}

/** Boot and start time of a process on Linux. Elsewhere, and of a hidden one, the empty string. */
export async function startMark(pid: number, proc = '/proc'): Promise<string> {
  try {
    const [boot, status] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`${proc}/${String(pid)}/stat`, 'utf8'),
    ]);
    // The second field is the program's name in brackets and may hold anything; the start time is
    // the 20th after it.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return `${boot.trim()}/${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

/** The working folder of a process, where the system shows it. */
export async function workingFolder(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${String(pid)}/cwd`).catch(() => undefined);
}
