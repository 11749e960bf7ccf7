/**
 * Prepares text of devices for the context of an agent: limited in length, and without characters
 * that a person would not see.
 */
import { clipText, isJsonObject } from '@flotilla/mcp';

/** UTF-16 code units of all text of one answer: some tens of thousands of tokens. */
export const answerTextMax = 65_536;
/** Of a description. */
const descriptionMax = 1_024;
/** Of a device's or a tool's name in running text. */
const labelMax = 128;
/** Of a name that the agent gives back: devices choose no longer tools and paths. */
const nameMax = 256;

/**
 * Zero-width, direction, filler and tag characters, most variation selectors and lone surrogates.
 * They can hide instructions. The joiners of scripts and emoji stay.
 */
const invisible =
  /[\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}\p{Surrogate}]/gu;

/** Lines stay. */
export function plainText(text: string, max = answerTextMax): string {
  const plain = text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .replace(invisible, '');
  return plain.length <= max ? plain : `${clipText(plain, max)}… (cut by the hub at ${max} characters)`;
}

export function plainLine(text: string, max = labelMax): string {
  return plainText(text, max).replace(/\s+/g, ' ').trim();
}

export function plainName(text: string): string {
  return plainLine(text, nameMax);
}

export function plainDescription(text: string): string {
  return plainLine(text, descriptionMax);
}

/** The same for every text in a JSON value, names of members too. */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return plainText(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [plainText(name), plainValue(member)]));
}
