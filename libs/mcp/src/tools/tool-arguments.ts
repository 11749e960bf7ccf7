/**
 * Checks the arguments of a call against the schema of its tool, before anything is sent. The hub
 * sends the caller's values, never the output of a parser, which would add defaults. Some rules
 * apply regardless of the schema. [xiaozhi §4.1]
 */
import { z } from 'zod';
import { brokenRule, validNames } from './argument-rules.js';
import { normaliseSchema } from './argument-schema.js';
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import type { JsonSchema } from './tool.js';
import { findUnsafeValue } from '../json-rpc/unsafe-value.js';

/**
 * `path` is the argument as a caller writes it, such as `colour.red` or `steps[2]`; empty for the
 * arguments as a whole.
 */
type ArgumentsVerdict = { readonly ok: true } | { readonly ok: false; readonly path: string; readonly message: string };

export interface CompiledArguments {
  /** False if the schema is too large or cannot be normalised: then any plain data is accepted. */
  readonly schemaKnown: boolean;
  check(args: unknown): ArgumentsVerdict;
}

const fits: ArgumentsVerdict = { ok: true };

/** JSON values of a normalised schema. Known tools have dozens. A validator of 1,000: 0.2 s. */
const schemaValuesMax = 1_000;

/**
 * Values of the arguments times those of the schema: at worst each is compared with each, in 2 µs.
 * The largest arguments of a call have about 8,000 values.
 */
const comparisonsMax = 600_000;

const tooManyValues = 'The arguments have too many values for this tool. Send fewer.';

/**
 * Compiles once per distinct schema, not per call. Never throws. The validator is built at the
 * first check: it takes far longer than the rest, and few tools of a listing are called.
 */
export function compileArguments(schema: JsonSchema): CompiledArguments {
  const normal = normaliseSchema({ type: 'object', ...schema });
  const properties = normal?.['properties'];
  const size = countValues(normal);
  if (normal === undefined || !isJsonObject(properties) || size > schemaValuesMax)
    return { schemaKnown: false, check: checkPlainData };
  let validate: Validate | undefined;
  return {
    schemaKnown: true,
    check: (args) => {
      const verdict = checkPlainData(args);
      if (!verdict.ok || !isJsonObject(args)) return verdict;
      if (countValues(args) * size > comparisonsMax) return refuse('', tooManyValues);
      return checkNames(args, properties) ?? (validate ??= validation(normal))(args);
    },
  };
}

/** Counts the values of plain JSON data, the data itself included. */
function countValues(data: unknown): number {
  if (typeof data !== 'object' || data === null) return 1;
  return Object.values(data).reduce<number>((sum, value) => sum + countValues(value), 1);
}

type Validate = (args: JsonObject) => ArgumentsVerdict;

function validation(normal: JsonObject): Validate {
  try {
    const validator = z.fromJSONSchema(normal);
    return (args) => checkValues(args, validator);
  } catch {
    // The schema is hostile or broken: its tool stays callable, without validation.
    return () => fits;
  }
}

function checkPlainData(args: unknown): ArgumentsVerdict {
  if (!isJsonObject(args)) return refuse('', 'The arguments must be an object.');
  const unsafe = findUnsafeValue(args);
  return unsafe === undefined ? fits : refuse(unsafe.path, `${nameOf(unsafe.path)} ${unsafe.rule}.`);
}

/**
 * Devices match names without regard to case and ignore unknown ones, so the tool would run with
 * other arguments than intended.
 */
function checkNames(args: JsonObject, properties: JsonObject): ArgumentsVerdict | undefined {
  for (const name of Object.keys(args)) {
    if (Object.hasOwn(properties, name)) continue;
    const declared = Object.keys(properties);
    const similar = declared.find((other) => other.toLowerCase() === name.toLowerCase());
    const rule =
      similar === undefined
        ? `is not an argument of this tool. ${validNames(declared)}`
        : `must be written "${similar}".`;
    return refuse(name, `${nameOf(name)} ${rule}`);
  }
  return undefined;
}

function checkValues(args: JsonObject, validator: z.ZodType): ArgumentsVerdict {
  const parsed = validator.safeParse(args);
  if (parsed.success) return fits;
  const issue = parsed.error.issues[0];
  const path = writePath(issue?.path ?? []);
  if (!hasValueAt(args, issue?.path ?? [])) return refuse(path, `${nameOf(path)} is required.`);
  return refuse(path, `${nameOf(path)} ${brokenRule(issue)}.`);
}

function hasValueAt(args: unknown, path: readonly PropertyKey[]): boolean {
  let value: unknown = args;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return value !== undefined;
}

function writePath(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
    .join('');
}

function nameOf(path: string): string {
  return path === '' ? 'The arguments' : `Argument "${path}"`;
}

function refuse(path: string, message: string): ArgumentsVerdict {
  return { ok: false, path, message };
}
