/**
 * Whether an operation may be retried when its result is unknown: queries, and mutations whose
 * fields all have an idempotency key.
 */
import {
  Kind,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql';

type Variables = Readonly<Record<string, unknown>>;

export function operationOf(document: DocumentNode): OperationDefinitionNode | undefined {
  return document.definitions.find(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
}

export function isRepeatable(document: DocumentNode, variables: Variables): boolean {
  const operation = operationOf(document);
  if (operation?.operation === 'query') return true;
  if (operation?.operation !== 'mutation') return false;
  // A fragment at the top of a mutation is legal and rare: it is not looked into.
  return operation.selectionSet.selections.every((field) => field.kind === Kind.FIELD && hasKey(field, variables));
}

function hasKey({ arguments: given = [] }: FieldNode, variables: Variables): boolean {
  return given.some((argument) => isKey(argument, variables) || keyWithin(argument, variables));
}

function isKey({ name, value }: Pick<ArgumentNode, 'name' | 'value'>, variables: Variables): boolean {
  return name.value === 'idempotencyKey' && typeof valueOf(value, variables) === 'string';
}

function keyWithin({ name, value }: ArgumentNode, variables: Variables): boolean {
  if (name.value !== 'input') return false;
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => isKey(field, variables));
  const input = valueOf(value, variables);
  return (
    typeof input === 'object' && input !== null && 'idempotencyKey' in input && typeof input.idempotencyKey === 'string'
  );
}

function valueOf(value: ValueNode, variables: Variables): unknown {
  if (value.kind === Kind.VARIABLE) return variables[value.name.value];
  return value.kind === Kind.STRING ? value.value : undefined;
}
