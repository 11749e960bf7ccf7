/**
 * JSON: any JSON value, in variables or literals. Refuses numbers beyond a double, and deep
 * nesting.
 */
import { GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { ApiError } from '../errors/api-error.js';

/** Levels of arrays and objects. Known tools nest 3 levels, and each level is a stack frame. */
export const jsonDepthMax = 32;

type Variables = Readonly<Record<string, unknown>> | null | undefined;

export const jsonScalar = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => {
    refuseUnsafe(value, 0);
    return value;
  },
  parseLiteral: (node, variables) => valueOf(node, variables, 0),
});

/** Plain objects with own members only: a member named __proto__ is a member like any other. */
function valueOf(node: ValueNode, variables: Variables, depth: number): unknown {
  refuseDepth(depth);
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.BOOLEAN:
    case Kind.STRING:
    case Kind.ENUM:
      return node.value;
    case Kind.INT:
    case Kind.FLOAT:
      return exactNumber(Number(node.value));
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    case Kind.LIST:
      return node.values.map((item) => valueOf(item, variables, depth + 1));
    case Kind.OBJECT:
      return Object.fromEntries(
        node.fields.map((field) => [field.name.value, valueOf(field.value, variables, depth + 1)]),
      );
  }
}

function refuseUnsafe(value: unknown, depth: number): void {
  refuseDepth(depth);
  if (typeof value === 'number') exactNumber(value);
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) refuseUnsafe(item, depth + 1);
}

function exactNumber(value: number): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    throw new ApiError('BAD_USER_INPUT', 'A number in JSON must fit a double exactly; integers are at most 2^53 - 1.');
  }
  return value;
}

function refuseDepth(depth: number): void {
  if (depth > jsonDepthMax) throw new ApiError('BAD_USER_INPUT', `JSON nests at most ${jsonDepthMax} levels.`);
}
