/**
 * A validation rule that limits the shape of a document: nesting, aliases, directives, mutations,
 * and text that cannot be stored or sent.
 */
import {
  type ASTNode,
  type ASTVisitor,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';
import { ApiError } from '../errors/api-error.js';
import type { ApiLimits } from './api-limits.js';
import { textProblem } from './input-bounds.js';

type ShapeLimits = Pick<
  ApiLimits,
  'queryDepthMax' | 'queryAliasesMax' | 'queryDirectivesMax' | 'operationMutationsMax'
>;

export function documentLimits(limits: ShapeLimits): ValidationRule {
  return (context): ASTVisitor => {
    let aliases = 0;
    let directives = 0;
    return {
      Field(field) {
        if (field.alias && ++aliases === limits.queryAliasesMax + 1) {
          context.reportError(
            new ApiError('COST_LIMIT', `The query uses more than ${limits.queryAliasesMax} aliases.`),
          );
        }
      },
      Directive() {
        if (++directives === limits.queryDirectivesMax + 1) {
          context.reportError(
            new ApiError('COST_LIMIT', `The query uses more than ${limits.queryDirectivesMax} directives.`),
          );
        }
      },
      StringValue(node, _key, _parent, _path, ancestors) {
        const problem = textProblem(node.value);
        if (problem === undefined) return;
        const message = `The input at "${inputPath(ancestors)}" ${problem}`;
        context.reportError(new ApiError('BAD_USER_INPUT', message, new GraphQLError(message, { nodes: node })));
      },
      OperationDefinition(operation) {
        const depth = depthOf(operation.selectionSet, context, new Map());
        if (depth > limits.queryDepthMax) {
          context.reportError(
            new ApiError(
              'COST_LIMIT',
              `The query nests ${depth} levels of fields, at most ${limits.queryDepthMax} are allowed.`,
            ),
          );
        }
        const acts =
          operation.operation === OperationTypeNode.MUTATION ? fieldsOf(operation.selectionSet, context, new Map()) : 0;
        if (acts > limits.operationMutationsMax) {
          context.reportError(
            new ApiError(
              'COST_LIMIT',
              `The operation has ${acts} mutations, at most ${limits.operationMutationsMax} are allowed in one.`,
            ),
          );
        }
      },
    };
  };
}

/** The names around a literal: argument or variable, then members of input objects. */
function inputPath(ancestors: readonly (ASTNode | readonly ASTNode[])[]): string {
  return ancestors.flatMap((ancestor) => ('kind' in ancestor ? nameOf(ancestor) : [])).join('.');
}

function nameOf(node: ASTNode): string | readonly [] {
  if (node.kind === Kind.VARIABLE_DEFINITION) return node.variable.name.value;
  return node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD ? node.name.value : [];
}

/**
 * Another rule of graphql limits introspection, and another one refuses recursive fragments (0
 * here).
 */
function depthOf(set: SelectionSetNode, context: ValidationContext, fragments: Map<string, number>): number {
  let deepest = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      deepest = Math.max(deepest, fragmentDepth(selection.name.value, context, fragments));
    else if (selection.kind === Kind.INLINE_FRAGMENT)
      deepest = Math.max(deepest, depthOf(selection.selectionSet, context, fragments));
    else if (selection.name.value.startsWith('__')) continue;
    else
      deepest = Math.max(
        deepest,
        1 + (selection.selectionSet ? depthOf(selection.selectionSet, context, fragments) : 0),
      );
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

/** Fields at the top, those of fragments included, each time that they are spread. */
function fieldsOf(set: SelectionSetNode, context: ValidationContext, fragments: Map<string, number>): number {
  return set.selections.reduce((sum, selection) => {
    if (selection.kind === Kind.FIELD) return sum + 1;
    if (selection.kind === Kind.INLINE_FRAGMENT) return sum + fieldsOf(selection.selectionSet, context, fragments);
    return sum + fragmentFields(selection.name.value, context, fragments);
  }, 0);
}

function fragmentFields(name: string, context: ValidationContext, fragments: Map<string, number>): number {
  const known = fragments.get(name);
  if (known !== undefined) return known;
  fragments.set(name, 0);
  const fragment = context.getFragment(name);
  const count = fragment ? fieldsOf(fragment.selectionSet, context, fragments) : 0;
  fragments.set(name, count);
  return count;
}
