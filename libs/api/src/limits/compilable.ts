/**
 * Which operations may be compiled. graphql-jit writes the code that checks a variable as deep as its type goes, and for a type that contains itself
 * that is until the process is out of memory (graphql-jit issue 81). `DeviceFilter` is such a type, so this guards the hub's life.
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
  const answer = !document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.variableDefinitions?.some(({ type }) => isEndless(schema, nameOf(type))),
  );
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
