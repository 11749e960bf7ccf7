/** Which waiting board a person approves, by what they chose and typed. */

interface Waiting {
  readonly id: string;
  /** Only administrators see it. */
  readonly code: string | null;
}

interface Chosen<Board> {
  readonly board: Board | undefined;
  /** As the device shows it; empty until it is known. */
  readonly code: string;
}

/**
 * A chosen board stays when the list loses it, as after an approval whose answer is lost. A typed
 * code leads to its board where the list has codes.
 */
export function chosenBoard<Board extends Waiting>(
  waiting: readonly Board[],
  chosen: Board | undefined,
  typed: string,
): Chosen<Board> {
  const code = typed.trim();
  const now = chosen && (waiting.find(({ id }) => id === chosen.id) ?? chosen);
  if (code === '') return { board: now, code: now?.code ?? '' };
  return { board: waiting.find((one) => one.code === code) ?? (now?.code === null ? now : undefined), code };
}
