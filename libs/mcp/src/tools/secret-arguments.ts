/**
 * Arguments whose names look secret, and how they are shown: the one list for records, jobs, messages and the audit trail. Devices and operators choose
 * names freely, so this judges by the name alone. The device still gets the value.
 */
import { isPinTool } from '../mcpu/pins.js';

/** What stands for a value that is not shown. */
export const MASK = '***';

const secretName =
  /(?<!com|by)pass(word|wd|phrase|code)?s?$|secret|token|credential|authori[sz]ation|api[_-]?key|private[_-]?key|psk$|pwd$|^(key|pin)$/i;

/** Levels that are looked through. Calls with more are refused; what is below is masked as a whole. */
const levelsMax = 32;

type Arguments = Readonly<Record<string, unknown>>;

/** Whether a member holds a secret. What is empty, null or a yes or no hides nothing. */
export function isSecretMember(name: string, value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean' && secretName.test(name);
}

/** The same value where nothing in it is secret: most are checked and not copied. */
export function maskSecrets(value: Arguments): Arguments {
  return maskedObject(value, 0);
}

/** The arguments of a tool. `pin` is a number on the board where the tool is about pins, and a code elsewhere. */
export function maskArguments(tool: string, args: Arguments): Arguments {
  const masked = maskSecrets(args);
  return masked !== args && isPinTool(tool) && Object.hasOwn(args, 'pin') ? { ...masked, pin: args['pin'] } : masked;
}

/** For a viewer who may not see the arguments at all: which there were, and no value. */
export function maskAll(args: Arguments): Arguments {
  return Object.fromEntries(Object.keys(args).map((name) => [name, MASK]));
}

/** Whether these are arguments from which a secret was taken out: with them nothing can be called again. */
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
  // In the order of the input: a record is read beside what was asked.
  return changes === undefined ? object : Object.fromEntries([...Object.entries(object), ...changes]);
}

function findMask(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null || level === levelsMax) return false;
  if (Array.isArray(value)) return value.some((item) => findMask(item, level + 1));
  return Object.entries(value).some(
    ([name, member]) => (member === MASK && isSecretMember(name, member)) || findMask(member, level + 1),
  );
}
