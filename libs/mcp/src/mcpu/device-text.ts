/** Cleans texts of a microcontroller before they become labels and prompts. [mcpu §6] */
import { clipText } from '../json-rpc/json-text.js';

/** Returns the text on one line, at most `max` UTF-16 code units; '' if it is not a string. */
export function deviceText(value: unknown, max: number): string {
  if (typeof value !== 'string') return '';
  return clipText(value.replace(/\p{Cc}+/gu, ' ').trim(), max);
}
