/** The lines of a session log: what is kept, what is shown, and what is written to a file. */
import type { DeviceSessionLogSubscription } from './generated/log';

export type LogEntry = DeviceSessionLogSubscription['sessionLog'];

export interface LogLine extends LogEntry {
  /** Counts up, and stays when older lines are dropped. */
  readonly number: number;
}

/** Lines that a page keeps: 15 minutes of an ordinary device. */
export const linesMax = 2_000;

/** Adds entries at the end, and drops the oldest lines beyond `linesMax`. */
export function withEntries(lines: readonly LogLine[], entries: readonly LogEntry[]): readonly LogLine[] {
  const next = (lines.at(-1)?.number ?? 0) + 1;
  const added = entries.map((entry, index) => ({ ...entry, number: next + index }));
  return [...lines, ...added].slice(-linesMax);
}

/** Lines whose text has all words, in any case. Lines about the session itself always stay. */
export function matchingLines(lines: readonly LogLine[], search: string): readonly LogLine[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return lines;
  return lines.filter(({ kind, text }) => !isMessage(kind) || words.every((word) => text.toLowerCase().includes(word)));
}

function isMessage(kind: LogEntry['kind']): boolean {
  return kind === 'SENT' || kind === 'RECEIVED';
}

/** JSON on several lines, other texts as they are. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** One JSON object per line, as `flotilla devices log --output jsonl` prints them. */
export function asJsonLines(lines: readonly LogLine[]): string {
  return lines
    .map(({ at, kind, text, bytes, isTruncated }) => `${JSON.stringify({ at, kind, text, bytes, isTruncated })}\n`)
    .join('');
}
