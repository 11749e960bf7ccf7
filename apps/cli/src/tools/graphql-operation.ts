/** One operation of a GraphQL document, and its variables as people type them. */
import {
  Kind,
  parse,
  print,
  separateOperations,
  type DocumentNode,
  type OperationDefinitionNode,
  type TypeNode,
} from 'graphql';
import { messageOf } from '../error-message.js';
import { UsageError } from '../exit-codes.js';

export interface GraphqlOperation {
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** The operation with the fragments that it needs. */
  readonly source: string;
  readonly definition: OperationDefinitionNode;
}

/** Finds the only operation, or the one with this name. */
export function operationOf(source: string, name: string | undefined): GraphqlOperation {
  const operations = Object.entries(separateOperations(parsed(source)));
  if (operations.length === 0) throw new UsageError('There is no operation. Write one, such as { viewer { name } }.');
  const [chosen, ...others] = name === undefined ? operations : operations.filter(([other]) => other === name);
  const names = operations.map(([other]) => other || '(unnamed)').join(', ');
  if (chosen === undefined) throw new UsageError(`There is no operation "${name ?? ''}". The operations are ${names}.`);
  if (others.length > 0) throw new UsageError(`There are several operations: ${names}. Choose one with --operation.`);
  const [, document] = chosen;
  const definition = document.definitions.find(
    ({ kind }) => kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  return { kind: definition.operation, source: print(document), definition };
}

function parsed(source: string): DocumentNode {
  try {
    return parse(source);
  } catch (error) {
    throw new UsageError(`The operation: ${messageOf(error)}`);
  }
}

/** The variables of `name=value` words, typed by their declarations. */
export function variablesOf(
  { definition: { variableDefinitions = [] } }: GraphqlOperation,
  fields: readonly string[],
): Readonly<Record<string, unknown>> {
  const types = new Map(variableDefinitions.map(({ variable, type }) => [variable.name.value, type]));
  const variables: Record<string, unknown> = {};
  for (const field of fields) {
    const [, name, text] = /^([^=]+)=([\s\S]*)$/.exec(field) ?? [];
    if (name === undefined || text === undefined) throw new UsageError(`-F must be name=value, not "${field}".`);
    const type = types.get(name);
    if (type === undefined)
      throw new UsageError(`The operation has no variable "${name}". Its variables are ${listed(types)}.`);
    variables[name] = valueOf(name, text, type);
  }
  const missing = variableDefinitions.filter(
    ({ variable, type, defaultValue }) =>
      type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined && !Object.hasOwn(variables, variable.name.value),
  );
  if (missing.length > 0)
    throw new UsageError(`Set ${missing.map(({ variable }) => `-F ${variable.name.value}=…`).join(' ')}`);
  return variables;
}

function listed(types: ReadonlyMap<string, TypeNode>): string {
  return [...types].map(([name, type]) => `${name}: ${print(type)}`).join(', ') || 'none';
}

const texts: ReadonlySet<string> = new Set(['String', 'ID', 'DateTime']);
const scalars: ReadonlySet<string> = new Set(['Int', 'Float', 'Boolean']);

function valueOf(name: string, text: string, type: TypeNode): unknown {
  const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  const typeName = inner.kind === Kind.NAMED_TYPE ? inner.name.value : undefined;
  if (typeName !== undefined && texts.has(typeName)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The name of an enum value is text; what is a list or a scalar must be JSON.
    if (typeName !== undefined && !scalars.has(typeName) && /^\w+$/.test(text)) return text;
    throw new UsageError(`The variable "${name}" must be ${print(type)} as JSON, not "${text}".`);
  }
}
