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
 * Whether the process with this mark lives. Without a mark, any process with that id counts as the
 * same; so does a hidden one, as from a service under systemd, if the machine has not restarted.
 */
export async function isSameProcess(pid: number, mark: string, proc = '/proc'): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const current = await startMark(pid, proc);
  if (mark === '' || current !== '') return mark === '' || current === mark;
  const boot = await bootId();
  return boot === '' || mark.startsWith(`${boot}/`);
}

/** Boot and start time of a process on Linux; the empty string elsewhere, or if one is hidden. */
export async function startMark(pid: number, proc = '/proc'): Promise<string> {
  try {
    const status = await readFile(`${proc}/${String(pid)}/stat`, 'utf8');
    // The second field is the program's name in brackets and may hold anything; the start time is
    // the 20th after it.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const boot = await bootId();
    return boot === '' ? '' : `${boot}/${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

/** Another one after each start of the machine. Empty where the system has none. */
async function bootId(): Promise<string> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return text.trim();
}

/** The working folder of a process, where the system shows it. */
export async function workingFolder(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${String(pid)}/cwd`).catch(() => undefined);
}
