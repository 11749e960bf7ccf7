/** The kind of the operation that a document runs. */

interface Definition {
  readonly kind: string;
  readonly operation?: string;
  readonly name?: { readonly value: string } | undefined;
}

/** Undefined if there is no such operation; the hub then says what is wrong. */
export function operationKindOf(
  definitions: readonly Definition[],
  name: string | null | undefined,
): string | undefined {
  const operations = definitions.filter(({ kind }) => kind === 'OperationDefinition');
  const named = operations.find((definition) => definition.name?.value === name);
  return (named ?? (operations.length === 1 ? operations[0] : undefined))?.operation;
}
