/**
 * Decides which documents may be compiled. For a variable of a recursive input type such as
 * `DeviceFilter`, graphql-jit generates code until memory ends (graphql-jit issue 81). Mercurius
 * keeps one compiled operation per document, and would run it for every operation in it.
 */
import {
  type DocumentNode,
  getNamedType,
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isInputObjectType,
  Kind,
  type TypeNode,
} from 'graphql';

/** Parsed documents are kept by Mercurius, so each is looked at once. */
const known = new WeakMap<DocumentNode, boolean>();

export function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  const before = known.get(document);
  if (before !== undefined) return before;
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const answer =
    operations.length === 1 && !operations[0]?.variableDefinitions?.some(({ type }) => isEndless(schema, nameOf(type)));
  known.set(document, answer);
  return answer;
}

function nameOf(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);
}

function isEndless(schema: GraphQLSchema, name: string): boolean {
  const type = schema.getType(name);
  return isInputObjectType(type) && reachesCycle(type, new Set());
}

function reachesCycle(type: GraphQLInputObjectType, above: ReadonlySet<GraphQLInputObjectType>): boolean {
  if (above.has(type)) return true;
  const path = new Set([...above, type]);
  return Object.values(type.getFields()).some((field) => {
    const member = getNamedType(field.type);
    return isInputObjectType(member) && reachesCycle(member, path);
  });
}
