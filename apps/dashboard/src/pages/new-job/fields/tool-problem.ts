/** Why the form of a tool cannot be sent before its arguments are seen. */
type ToolProblem = 'tool' | 'toolList' | 'knownTool';

/**
 * `isSound`: its arguments were filled in before, so the tool need not be in the list. While the
 * list is read, or could not be read, the tool may still be in it.
 */
export function toolProblem(
  { tool, isSound }: { readonly tool: string | undefined; readonly isSound: boolean },
  list: { readonly names: readonly string[]; readonly isLoading: boolean; readonly hasFailed: boolean },
): ToolProblem | undefined {
  if (tool === undefined) return 'tool';
  if (isSound || list.names.includes(tool) || list.hasFailed) return undefined;
  return list.isLoading ? 'toolList' : 'knownTool';
}
