/**
 * Every place of an argument that takes text, derived from a schema, and a request that puts a text
 * there and something harmless everywhere else.
 */
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
} from 'graphql';

type Input = GraphQLArgument | GraphQLInputField;

/** Where a text goes: the argument, then members of input objects. Lists have one item. */
export type InputPath = readonly Input[];

/** Members of JSON values that a text can be: the value, a name, and something deep. */
const jsonPlaces: readonly ((text: string) => unknown)[] = [
  (text) => ({ message: text }),
  (text) => ({ [text]: 1 }),
  (text) => ({ list: [{ a: { b: [text] } }] }),
];

/** What required inputs get by their names, where a text alone would end the request early. */
export type Harmless = Readonly<Record<string, unknown>>;

/** Paths to the inputs of these scalars. An input type is entered once on each path. */
export function textPaths(field: GraphQLField<unknown, unknown>): readonly InputPath[] {
  return field.args.flatMap((argument) => pathsBelow([argument]));
}

function pathsBelow(path: InputPath): readonly InputPath[] {
  const type = getNamedType((path.at(-1) as Input).type);
  if (isInputObjectType(type)) {
    if (path.slice(0, -1).some((above) => getNamedType(above.type) === type)) return [];
    return Object.values(type.getFields()).flatMap((member) => pathsBelow([...path, member]));
  }
  return ['String', 'ID', 'JSON', 'DateTime'].includes(type.name) ? [path] : [];
}

export interface TextRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The requests that have `text` at this path: one, or several where JSON is taken there. */
export function requestsWith(
  operation: 'query' | 'mutation' | 'subscription',
  field: GraphQLField<unknown, unknown>,
  { path, text, harmless }: { readonly path: InputPath; readonly text: string; readonly harmless: Harmless },
): readonly TextRequest[] {
  const isJson = getNamedType((path.at(-1) as Input).type).name === 'JSON';
  const given = field.args.filter((argument) => argument === path[0] || isRequiredArgument(argument));
  const declared = given.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const query = `${operation} (${declared}) { ${field.name}(${passed})${isObject(field) ? ' { __typename }' : ''} }`;
  return (isJson ? jsonPlaces : [(value: string): unknown => value]).map((place) => ({
    query,
    variables: Object.fromEntries(
      given.map((argument) => [argument.name, valueOf(argument, path, place(text), harmless)]),
    ),
  }));
}

function isObject({ type }: GraphQLField<unknown, unknown>): boolean {
  return 'getFields' in getNamedType(type) || 'getTypes' in getNamedType(type);
}

function valueOf(input: Input, path: InputPath, value: unknown, harmless: Harmless): unknown {
  const isOnPath = path[0] === input;
  return asType(input.type, (type) => {
    if (isInputObjectType(type)) {
      const rest = isOnPath ? path.slice(1) : [];
      const members = Object.values(type.getFields()).filter(
        (member) => member === rest[0] || isRequiredInputField(member),
      );
      return Object.fromEntries(members.map((member) => [member.name, valueOf(member, rest, value, harmless)]));
    }
    if (isOnPath) return value;
    if (Object.hasOwn(harmless, input.name)) return harmless[input.name];
    if (isEnumType(type)) return type.getValues()[0]?.name;
    return harmlessScalars[type.name];
  });
}

const harmlessScalars: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  Boolean: false,
  JSON: {},
  String: 'x',
  ID: 'x',
};

function asType(
  type: GraphQLInputType,
  make: (type: GraphQLInputType & { readonly name: string }) => unknown,
): unknown {
  const plain = getNullableType(type);
  return isListType(plain) ? [asType(plain.ofType as GraphQLInputType, make)] : make(getNamedType(plain));
}
