/** For which approval a person confirms that it replaces a known device. */

interface Refusal {
  readonly code: string;
  readonly path: readonly string[];
}

/** A blocked board is a conflict, too, and no confirmation approves it. */
export function asksToConfirm(refusals: readonly Refusal[]): boolean {
  return refusals.some(({ code, path }) => code === 'CONFLICT' && path.at(-1) === 'confirm');
}

/** What a person chose and typed to name a board. */
export interface Given {
  readonly boardId: string | undefined;
  readonly code: string;
}

/** A confirmation and a failure count for one choice and one typed code, not for the next. */
export function approvalOf({ boardId, code }: Given): string {
  return `${boardId ?? ''} ${code.trim()}`;
}
