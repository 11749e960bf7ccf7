/** Processor time of processes, as Linux counts it in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in ticks of 10 ms on all common machines. */
const TICK_MICROSECONDS = 10_000;

/** User and system time of the processes so far, microseconds, without children. */
export function processorMicroseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.microseconds ?? 0), 0);
}

/** A process with its children, such as a PostgreSQL server with its backends. */
export function withChildren(parent: number): readonly number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statOf(pid)?.parent === parent);
  return [parent, ...children];
}

/** The server whose arguments, or whose title, contain this text, such as its folder. */
export function processWithArgument(program: string, argument: string): number {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const words = argumentsOf(pid);
    return words[0]?.endsWith(program) === true && words.some((word) => word.includes(argument));
  });
  if (found === undefined) throw new Error(`No process ${program} has the argument ${argument}.`);
  return Number(found);
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/);
  } catch {
    return [];
  }
}

function statOf(pid: number): { readonly parent: number; readonly microseconds: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name in parentheses, which may contain spaces. [proc(5): fields 4, 14 and 15]
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), microseconds: (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS };
  } catch {
    return undefined;
  }
}
