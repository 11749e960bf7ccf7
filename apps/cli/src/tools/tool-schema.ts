/** Words such as `volume=30`, typed and checked by the JSON schema of a tool. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { UsageError } from '../exit-codes.js';

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Without a schema, values that look like JSON scalars are numbers, booleans and null. */
export function typedArguments(
  tool: string,
  schema: unknown,
  words: readonly string[],
): Readonly<Record<string, unknown>> {
  const properties = schema === undefined ? undefined : propertiesOf(schema);
  const typed: Record<string, unknown> = {};
  for (const word of words) {
    const [, name, text] = /^([^=]+)=([\s\S]*)$/.exec(word) ?? [];
    if (name === undefined || text === undefined)
      throw new UsageError(`"${word}" is not an argument. Write name=value. ${validOf(tool, properties)}`);
    if (Object.hasOwn(typed, name))
      throw new UsageError(`The argument "${name}" is given more than once. Give it once.`);
    const property = properties?.get(name);
    if (properties !== undefined && property === undefined)
      throw new UsageError(`${tool} has no argument "${name}". ${validOf(tool, properties)}`);
    typed[name] = valueOf(name, text, property);
  }
  if (properties !== undefined && typeof schema === 'object' && schema !== null) check(tool, schema, typed, properties);
  return typed;
}

/** The arguments of a tool in words, such as "volume:integer (0 to 100), name:string?". */
export function argumentsInWords(schema: unknown): string {
  const required = new Set(requiredOf(schema));
  return [...propertiesOf(schema)]
    .map(([name, property]) => `${name}:${inWords(property)}${required.has(name) ? '' : '?'}`)
    .join(', ');
}

function inWords({ type: types = 'any', minimum, maximum, enum: values }: Property): string {
  const type = Array.isArray(types) ? types.join('|') : String(types);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join('|');
  if (minimum === undefined && maximum === undefined) return type;
  return `${type} (${minimum ?? '…'} to ${maximum ?? '…'})`;
}

function check(
  tool: string,
  schema: object,
  typed: Readonly<Record<string, unknown>>,
  properties: ReadonlyMap<string, Property>,
): void {
  const validate = validatorOf(schema);
  if (validate === undefined || validate(typed)) return;
  const faults = (validate.errors ?? []).map(faultOf).join(' ');
  throw new UsageError(`${faults} ${validOf(tool, properties, schema)}`);
}

/** Undefined where a device has a schema that cannot be used. Then only the hub checks. */
function validatorOf(schema: object): ValidateFunction | undefined {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  // Expressions of a device could run without end, so the hub ignores them, too.
  for (const keyword of ['pattern', 'patternProperties']) ajv.removeKeyword(keyword);
  const rules = Object.entries(schema).filter(([name]) => name !== '$schema' && name !== '$async');
  try {
    return ajv.compile(Object.fromEntries(rules));
  } catch {
    return undefined;
  }
}

function faultOf({ instancePath, message, keyword, params }: ErrorObject): string {
  if (keyword === 'required') return `The argument "${String(params['missingProperty'])}" is missing.`;
  return `${instancePath.slice(1).replaceAll('/', '.') || 'The arguments'} ${message ?? 'are invalid'}.`;
}

function validOf(tool: string, properties: ReadonlyMap<string, Property> | undefined, schema?: object): string {
  if (properties === undefined) return '';
  if (properties.size === 0) return `${tool} takes no arguments.`;
  const words = schema === undefined ? [...properties.keys()].join(', ') : argumentsInWords(schema);
  return `Valid arguments: ${words}.`;
}

function propertiesOf(schema: unknown): ReadonlyMap<string, Property> {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return new Map();
  return new Map(
    Object.entries(schema.properties ?? {}).map(([name, property]: [string, unknown]) => [
      name,
      typeof property === 'object' && property !== null ? property : {},
    ]),
  );
}

function requiredOf(schema: unknown): readonly unknown[] {
  if (typeof schema !== 'object' || schema === null || !('required' in schema)) return [];
  return Array.isArray(schema.required) ? schema.required : [];
}

/** Strings stay as they are typed; other types are JSON, and of several types the one that fits. */
function valueOf(name: string, text: string, property: Property | undefined): unknown {
  const type = property?.type;
  if (type === 'string') return text;
  const value = parsed(text);
  if (Array.isArray(type) && type.includes('string'))
    return typesOf(value).some((own) => type.includes(own)) ? value : text;
  if (value !== undefined && (property !== undefined || typeof value !== 'object' || value === null)) return value;
  if (property === undefined || type === undefined) return text;
  throw new UsageError(`${name} must be of the type ${inWords(property)}, not "${text}".`);
}

/** The names that JSON Schema has for the type of a value. */
function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
