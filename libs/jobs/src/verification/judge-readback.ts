/** Whether a device shows the value that was set: the result of a read tool has it at a path. */
import { isSecretMember, maskSecrets, maskValue, parseJsonText, quoteText } from '@flotilla/mcp';
import type { CallError, ToolResult } from '@flotilla/mcp';
import type { Readback } from '../job-types.js';
import { passed, unknown, verifyFailed } from './verification-evidence.js';
import type { DecidedVerification } from './verification-evidence.js';

/** Characters of a value that are quoted in a message. */
const quotedMax = 100;

/** `hidesValues`: readers of the message may not see the arguments, as those of user-only tools. */
export function judgeReadback(
  result: ToolResult,
  { tool, path, argument, tolerance }: Readback,
  args: Readonly<Record<string, unknown>>,
  { hidesValues = false } = {},
): DecidedVerification {
  const value = readbackValue(result, path);
  if (value === undefined) return verifyFailed('READBACK_DIFFERS', `${tool} reported no value at ${path}.`);
  const wanted = args[argument];
  if (isSameValue(value, wanted, tolerance)) return passed;
  const names = [argument, ...path.split('.')];
  if (hidesValues || names.some((name) => isSecretMember(name, value) || isSecretMember(name, wanted)))
    return verifyFailed('READBACK_DIFFERS', `${path} is not the value that was set.`);
  return verifyFailed('READBACK_DIFFERS', `${path} is ${quote(value)} instead of ${quote(wanted)}.`);
}

/**
 * Nothing was read by the deadline: only the end of the call is known, `callError` without an
 * answer.
 */
export function judgeUnread(callError: CallError | undefined): DecidedVerification {
  return unknown(
    callError ?? { code: 'NOT_VERIFIED', message: 'The tool answered, and the value could not be read back in time.' },
  );
}

/**
 * The value at a dotted path of member names and indexes; undefined where there is no such value.
 */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** The value in the answer of a read tool; undefined without one. */
export function readbackValue(result: ToolResult, path: string): unknown {
  return valueAt(bodyOf(result), path);
}

/**
 * Devices report numbers as texts and the other way round. Numbers may differ by the tolerance, and
 * by the error of floating point.
 */
export function isSameValue(reported: unknown, wanted: unknown, tolerance = 0): boolean {
  if (typeof reported === 'object' || typeof wanted === 'object')
    return JSON.stringify(reported) === JSON.stringify(wanted);
  const [one, other] = [numberOf(reported), numberOf(wanted)];
  if (one === undefined || other === undefined) return String(reported) === String(wanted);
  return one === other || (tolerance > 0 && Math.abs(one - other) <= tolerance * (1 + Number.EPSILON * 8));
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : undefined;
}

/** The JSON that the text of the result is, or else the text itself. */
function bodyOf({ content }: ToolResult): unknown {
  const text = content.find((item) => item.type === 'text')?.['text'];
  if (typeof text !== 'string') return undefined;
  const value = parseJsonText(text);
  return value === undefined ? text : value;
}

/** A value that was read back, for readers: a secret by the name of the argument or of its path. */
export function maskReported({ argument, path }: Pick<Readback, 'argument' | 'path'>, value: unknown): unknown {
  return maskValue([argument, ...path.split('.')], value);
}

function quote(value: unknown): string {
  return quoteText(value === undefined ? 'nothing' : JSON.stringify(maskSecrets({ value })['value']), quotedMax);
}
