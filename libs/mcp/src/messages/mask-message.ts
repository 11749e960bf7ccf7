/**
 * Masks secrets in a whole message of a connection, for people who read the log of a session. A
 * message may be JSON, JSON inside of strings, broken JSON, or the output of a sketch.
 */
import { isSecretMember, MASK } from '../tools/secret-arguments.js';

interface MessageMask {
  /** Whether `pin` is the number of a pin. Otherwise it is a secret, such as that of a door. */
  readonly hasPinNumbers: boolean;
  /** Masks a text without names, such as the token in a URL. */
  readonly maskText: (text: string) => string;
}

/** Levels that are searched; deeper values are masked as a whole. */
const LEVELS_MAX = 32;
const PIN_MAX = 255;

/**
 * A name, a separator, and a value: quoted, quoted without an end, or one word. A name begins at
 * the begin of a word and has a limit, so that the time grows with the length of the text only.
 */
const NAMED_VALUE =
  /(?<![\w-])([\w-]{1,128})((?:\\?["'])?\s*[:=]\s*)((?:Bearer|Basic)\s+\S+|\\?"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&{}[\]]+)/gi;

/** Returns the same text if it contains no secret. */
export function maskMessage(text: string, mask: MessageMask): string {
  const parsed = parseJson(text);
  if (parsed === undefined) return maskWords(text, mask);
  const masked = maskValue(parsed.value, mask, 0);
  return masked === parsed.value ? text : JSON.stringify(masked);
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function maskWords(text: string, { maskText }: MessageMask): string {
  return maskText(text).replace(NAMED_VALUE, (whole, name: string, separator: string, value: string) =>
    isSecretMember(name, value) ? `${name}${separator}${MASK}` : whole,
  );
}

function maskValue(value: unknown, mask: MessageMask, level: number): unknown {
  if (typeof value === 'string') return maskString(value, mask, level);
  if (typeof value !== 'object' || value === null) return value;
  if (level === LEVELS_MAX) return MASK;
  return Array.isArray(value) ? maskList(value, mask, level) : maskMembers(value, mask, level);
}

/** The text of a result is often JSON again. */
function maskString(text: string, mask: MessageMask, level: number): string {
  const inner = level < LEVELS_MAX ? parseJson(text) : undefined;
  if (inner === undefined) return maskWords(text, mask);
  const masked = maskValue(inner.value, mask, level + 1);
  return masked === inner.value ? text : JSON.stringify(masked);
}

function maskList(list: readonly unknown[], mask: MessageMask, level: number): readonly unknown[] {
  const masked = list.map((item) => maskValue(item, mask, level + 1));
  return masked.some((item, index) => item !== list[index]) ? masked : list;
}

function maskMembers(object: object, mask: MessageMask, level: number): object {
  const members: readonly [string, unknown][] = Object.entries(object);
  const masked = members.map(([name, value]): [string, unknown] => [name, maskMember(name, value, mask, level)]);
  return masked.some(([, value], index) => value !== members[index]?.[1]) ? Object.fromEntries(masked) : object;
}

function maskMember(name: string, value: unknown, mask: MessageMask, level: number): unknown {
  if (mask.hasPinNumbers && name === 'pin' && isPinNumber(value)) return value;
  return isSecretMember(name, value) ? MASK : maskValue(value, mask, level + 1);
}

function isPinNumber(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= PIN_MAX;
}
