/** For which approval a person confirms that it replaces a known device. */

interface Refusal {
  readonly code: string;
  readonly path: readonly string[];
}

/** A blocked board is a conflict, too, and no confirmation approves it. */
export function asksToConfirm(refusals: readonly Refusal[]): boolean {
  return refusals.some(({ code, path }) => code === 'CONFLICT' && path.at(-1) === 'confirm');
}

/** A confirmation and a failure count for one board and one code, not for the next. */
export function approvalOf(boardId: string | undefined, code: string): string {
  return `${boardId ?? ''} ${code.trim()}`;
}
