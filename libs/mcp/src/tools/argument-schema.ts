/**
 * Normalises a device's schema to the small part of JSON Schema that is safe to compile and
 * unambiguous. A schema with any other feature counts as unknown, because dropping the feature
 * would accept too much.
 */
import { int32Max, int32Min } from '../json-rpc/json-rpc.js';
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';

type Check = (value: unknown) => boolean;

const isFiniteNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isScalar: Check = (value) =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || isFiniteNumber(value);

/**
 * Members without effect on validity, and regular expressions of the device, which must not run.
 */
const ignored = new Set(
  'title description default examples deprecated readOnly writeOnly pattern format $schema $id $comment'.split(' '),
);

const numberLimits = {
  minimum: isFiniteNumber,
  maximum: isFiniteNumber,
  exclusiveMinimum: isFiniteNumber,
  exclusiveMaximum: isFiniteNumber,
  multipleOf: (value: unknown) => isFiniteNumber(value) && Number(value) > 0,
};

/** The limits of each type, and the type of their values. */
const limitsByType: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  boolean: {},
  null: {},
  integer: numberLimits,
  number: numberLimits,
  string: { minLength: isCount, maxLength: isCount },
  array: { minItems: isCount, maxItems: isCount, items: isJsonObject },
  object: { properties: isJsonObject, required: Array.isArray, additionalProperties: () => true },
};

/**
 * Returns the normalised schema, or undefined if it has other features, contradicts itself or nests
 * deeper than `levels`.
 */
export function normaliseSchema(schema: JsonObject, levels = 8): JsonObject | undefined {
  if (levels === 0) return undefined;
  const rules = Object.fromEntries(Object.entries(schema).filter(([member]) => !ignored.has(member)));
  const { type, ...limits } = rules;
  if (Array.isArray(type)) return oneOfTypes(type, limits, levels);
  if (Object.hasOwn(limits, 'enum')) return Array.isArray(limits['enum']) ? enumeration(limits['enum']) : undefined;
  if (Object.hasOwn(limits, 'const')) return enumeration([limits['const']]);
  if (type === undefined) return withoutType(limits, levels);
  const allowed = typeof type === 'string' && Object.hasOwn(limitsByType, type) ? limitsByType[type] : undefined;
  if (allowed === undefined || !Object.entries(limits).every(([member, value]) => isAllowed(allowed, member, value)))
    return undefined;
  if (type === 'integer') return integer(limits);
  if (type === 'array') return array(limits, levels);
  return type === 'object' ? object(limits, levels) : { ...limits, type };
}

/** Each known type once: any others would multiply the work at every level, or with each limit. */
function oneOfTypes(types: readonly unknown[], limits: JsonObject, levels: number): JsonObject | undefined {
  if (!types.every((type) => typeof type === 'string' && Object.hasOwn(limitsByType, type))) return undefined;
  return anyOf(
    [...new Set(types)].map((type) => ({ ...limits, type })),
    levels,
  );
}

/** The names come from the device, so one may be that of an inherited member. */
function isAllowed(allowed: Readonly<Record<string, Check>>, member: string, value: unknown): boolean {
  return Object.hasOwn(allowed, member) && allowed[member]?.(value) === true;
}

function withoutType(limits: JsonObject, levels: number): JsonObject | undefined {
  const members = Object.keys(limits);
  if (members.length === 0) return {};
  if (Object.hasOwn(limits, 'properties')) return normaliseSchema({ ...limits, type: 'object' }, levels);
  return members.length === 1 && Array.isArray(limits['anyOf']) ? anyOf(limits['anyOf'], levels) : undefined;
}

function anyOf(options: readonly unknown[], levels: number): JsonObject | undefined {
  const forms = options.map((option) => (isJsonObject(option) ? normaliseSchema(option, levels - 1) : undefined));
  return forms.length === 0 || forms.includes(undefined) ? undefined : { anyOf: forms };
}

function enumeration(values: readonly unknown[]): JsonObject | undefined {
  return values.length > 0 && values.every(isScalar) ? { enum: values } : undefined;
}

/** Devices keep integers in 32 bits and silently clamp larger ones. [xiaozhi §4.5] */
function integer(limits: JsonObject): JsonObject {
  return {
    ...limits,
    type: 'integer',
    minimum: Math.max(int32Min, Number(limits['minimum'] ?? int32Min)),
    maximum: Math.min(int32Max, Number(limits['maximum'] ?? int32Max)),
  };
}

function array(limits: JsonObject, levels: number): JsonObject | undefined {
  if (!isJsonObject(limits['items'])) return { ...limits, type: 'array', items: {} };
  const items = normaliseSchema(limits['items'], levels - 1);
  return items === undefined ? undefined : { ...limits, type: 'array', items };
}

function object(limits: JsonObject, levels: number): JsonObject | undefined {
  const properties: Record<string, JsonObject> = {};
  for (const [name, property] of Object.entries(isJsonObject(limits['properties']) ? limits['properties'] : {})) {
    const normal = isJsonObject(property) ? normaliseSchema(property, levels - 1) : undefined;
    // A lookup of such a name would find the inherited member if the caller gave none.
    if (normal === undefined || name in Object.prototype) return undefined;
    properties[name] = normal;
  }
  const required: readonly unknown[] = Array.isArray(limits['required']) ? limits['required'] : [];
  if (!required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name))) return undefined;
  return { type: 'object', properties, required };
}
