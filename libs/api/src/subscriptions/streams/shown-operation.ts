/**
 * The part of a subscription that decides the form of its values. The arguments of its field only
 * choose events.
 */
import { Kind, print, visit, type DocumentNode, type ExecutionArgs, type OperationDefinitionNode } from 'graphql';

export interface ShownOperation {
  /** Equal for operations that show the same. */
  readonly key: string;
  readonly args: Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'>;
}

/**
 * Leaves out variables that only the arguments of the field use: reading them is a third of the
 * cost of an event.
 */
export function shownOperation({ document, operationName, variableValues }: ExecutionArgs): ShownOperation {
  const shown = withoutArguments(document);
  if (shown !== undefined) return { key: JSON.stringify([print(shown)]), args: { document: shown } };
  const args = { document, operationName: operationName ?? null, variableValues: variableValues ?? null };
  return { key: JSON.stringify([print(document), args.operationName, args.variableValues]), args };
}

/** Undefined where the document has several operations, or variables elsewhere. */
function withoutArguments(document: DocumentNode): DocumentNode | undefined {
  const [operation, ...others] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined || others.length > 0) return undefined;
  const { selectionSet, ...rest } = operation as OperationDefinitionNode;
  const selections = selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD ? { ...selection, arguments: [] } : selection,
  );
  const bare: OperationDefinitionNode = {
    ...rest,
    variableDefinitions: [],
    selectionSet: { ...selectionSet, selections },
  };
  const shown = {
    ...document,
    definitions: document.definitions.map((definition) => (definition === operation ? bare : definition)),
  };
  return hasVariables(shown) ? undefined : shown;
}

function hasVariables(document: DocumentNode): boolean {
  let has = false;
  visit(document, { Variable: () => void (has = true) });
  return has;
}
