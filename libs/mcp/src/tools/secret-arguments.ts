/**
 * Masks arguments with secret names, for records, jobs, messages and the audit trail. Devices and
 * operators choose names freely, so only the name decides. The device receives the real value.
 */
import { isPinTool } from '../mcpu/pins.js';

/** Replaces a hidden value. */
export const MASK = '***';

const secretName =
  /(?<!com|by)pass(word|wd|phrase|code)?s?$|secret|token|credential|authori[sz]ation|api[_-]?key|private[_-]?key|psk$|pwd$|^(key|pin)$/i;

/** Levels that are searched. Deeper calls are rejected, and deeper values are masked as a whole. */
const levelsMax = 32;

type Arguments = Readonly<Record<string, unknown>>;

/** Whether a member holds a secret. Empty values, null and booleans hide nothing. */
export function isSecretMember(name: string, value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean' && secretName.test(name);
}

/** Returns the same object if it contains no secret, because most values contain none. */
export function maskSecrets(value: Arguments): Arguments {
  return maskedObject(value, 0);
}

/** Masks the arguments of a tool. `pin` is a number for pin tools, otherwise a secret. */
export function maskArguments(tool: string, args: Arguments): Arguments {
  const masked = maskSecrets(args);
  return masked !== args && isPinTool(tool) && Object.hasOwn(args, 'pin') ? { ...masked, pin: args['pin'] } : masked;
}

/** Masks a value with several names, such as an argument and the path where it is read back. */
export function maskValue(names: readonly string[], value: unknown): unknown {
  return names.some((name) => isSecretMember(name, value)) ? MASK : maskedValue(value);
}

/** Masks all values, for a viewer who may only see the names of the arguments. */
export function maskAll(args: Arguments): Arguments {
  return Object.fromEntries(Object.keys(args).map((name) => [name, MASK]));
}

/** Whether a secret was removed from these arguments, so that they cannot be sent again. */
export function hasMaskedSecret(tool: string, args: Arguments): boolean {
  return findMask(isPinTool(tool) ? { ...args, pin: undefined } : args);
}

function maskedValue(value: unknown, level = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (level === levelsMax) return MASK;
  return Array.isArray(value) ? maskedList(value, level) : maskedObject(value as Arguments, level);
}

function maskedList(list: readonly unknown[], level: number): readonly unknown[] {
  const masked = list.map((item) => maskedValue(item, level + 1));
  return masked.some((item, index) => item !== list[index]) ? masked : list;
}

function maskedObject(object: Arguments, level: number): Arguments {
  let changes: [string, unknown][] | undefined;
  for (const [name, value] of Object.entries(object)) {
    const masked = isSecretMember(name, value) ? MASK : maskedValue(value, level + 1);
    if (masked !== value) (changes ??= []).push([name, masked]);
  }
  // Keeps the order of the input, so that a record can be compared with the request.
  return changes === undefined ? object : Object.fromEntries([...Object.entries(object), ...changes]);
}

function findMask(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null || level === levelsMax) return false;
  if (Array.isArray(value)) return value.some((item) => findMask(item, level + 1));
  return Object.entries(value).some(
    ([name, member]) => (member === MASK && isSecretMember(name, member)) || findMask(member, level + 1),
  );
}
