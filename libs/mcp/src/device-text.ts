/**
 * Cleans texts of a device before they become columns, labels and prompts. A board says its version
 * in its OTA request and in its greeting: both are cleaned here, so that they are equal. [mcpu §6]
 */
import { clipText } from './json-rpc/json-text.js';

/** UTF-16 code units of a model or version. The longest board names have about 50. */
const nameMax = 128;

/** Returns the text on one line, at most `max` UTF-16 code units; '' if it is not a string. */
export function deviceText(value: unknown, max = nameMax): string {
  if (typeof value !== 'string') return '';
  return clipText(value.replace(/\p{Cc}+/gu, ' ').trim(), max);
}
