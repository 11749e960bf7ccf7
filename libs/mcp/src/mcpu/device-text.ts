/** What a microcontroller says of itself becomes labels, prompts and search terms: without control characters, and bounded. [mcpu §6] */
import { cleanText } from '../json-rpc/json-text.js';

/** The text on one line, at most `max` UTF-16 code units; '' for anything that is no text. */
export function deviceText(value: unknown, max: number): string {
  if (typeof value !== 'string') return '';
  return cleanText(
    value
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, max),
  );
}
