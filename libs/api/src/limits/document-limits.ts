/** A validation rule that bounds a query's shape: nesting, aliases, and text that PostgreSQL and devices cannot take. */
import type { GraphQLError } from 'graphql';
import { Kind, type ASTVisitor, type SelectionSetNode, type ValidationContext, type ValidationRule } from 'graphql';
import { ApiError } from '../api-error.js';
import type { ApiLimits } from './api-limits.js';

export function documentLimits(limits: Pick<ApiLimits, 'queryDepthMax' | 'queryAliasesMax'>): ValidationRule {
  return (context): ASTVisitor => {
    let aliases = 0;
    return {
      Field(field) {
        if (field.alias && ++aliases === limits.queryAliasesMax + 1) {
          context.reportError(new ApiError('COST_LIMIT', `The query uses more than ${limits.queryAliasesMax} aliases.`));
        }
      },
      StringValue(node) {
        if (node.value.includes('\0')) context.reportError(nulError());
      },
      OperationDefinition(operation) {
        const depth = depthOf(operation.selectionSet, context, new Map());
        if (depth > limits.queryDepthMax) {
          context.reportError(
            new ApiError('COST_LIMIT', `The query nests ${depth} levels of fields, at most ${limits.queryDepthMax} are allowed.`),
          );
        }
      },
    };
  };
}

export function nulError(): GraphQLError {
  return new ApiError('BAD_USER_INPUT', 'Text must not contain the character NUL (U+0000).');
}

/** Introspection is bounded by a rule of graphql itself. A fragment that spreads itself counts as 0 here: another rule refuses it. */
function depthOf(set: SelectionSetNode, context: ValidationContext, fragments: Map<string, number>): number {
  let deepest = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) deepest = Math.max(deepest, fragmentDepth(selection.name.value, context, fragments));
    else if (selection.kind === Kind.INLINE_FRAGMENT) deepest = Math.max(deepest, depthOf(selection.selectionSet, context, fragments));
    else if (selection.name.value.startsWith('__')) continue;
    else deepest = Math.max(deepest, 1 + (selection.selectionSet ? depthOf(selection.selectionSet, context, fragments) : 0));
  }
  return deepest;
}

function fragmentDepth(name: string, context: ValidationContext, fragments: Map<string, number>): number {
  const known = fragments.get(name);
  if (known !== undefined) return known;
  fragments.set(name, 0);
  const fragment = context.getFragment(name);
  const depth = fragment ? depthOf(fragment.selectionSet, context, fragments) : 0;
  fragments.set(name, depth);
  return depth;
}
