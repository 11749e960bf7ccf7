/** What a check of the doctor found, and how it is printed. */

type Status = 'ok' | 'warning' | 'problem';

export interface Finding {
  /** What was checked, in one or two words. */
  readonly check: string;
  readonly status: Status;
  /** What is the case. */
  readonly found: string;
  /** What to do; empty only if all is well. */
  readonly advice: string;
}

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found, advice: '' });
export const warning = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'warning',
  found,
  advice,
});
export const problem = (check: string, found: string, advice: string): Finding => ({
  check,
  status: 'problem',
  found,
  advice,
});

const CHECK_COLUMNS = 14;
const STATUS_COLUMNS = 9;

export function findingText({ check, status, found, advice }: Finding): string {
  const start = `${status.padEnd(STATUS_COLUMNS)}${check.padEnd(CHECK_COLUMNS)}${found}`;
  return advice === '' ? start : `${start}\n${' '.repeat(STATUS_COLUMNS + CHECK_COLUMNS)}${advice}`;
}

export function countText(findings: readonly Finding[]): string {
  const count = (status: Status) => findings.filter((finding) => finding.status === status).length;
  return `Checks: ${findings.length}, problems: ${count('problem')}, warnings: ${count('warning')}.`;
}

/** A check that fails itself is a problem, and the others go on. */
export async function findingsOf(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [problem(check, `could not be checked: ${reasonOf(error)}`, 'Fix the cause, and run the doctor again.')];
  }
}

/** The message of an error, or of its cause if it only says that something failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return error.message === 'fetch failed' && cause instanceof Error ? cause.message || error.message : error.message;
}
