/** What an operation may cost at most, in points, before it runs: about one for each object it may return, more for each statement or device it needs. */
import {
  type DocumentNode,
  getNamedType,
  getNullableType,
  getOperationAST,
  type GraphQLSchema,
  isCompositeType,
  isListType,
} from 'graphql';
import { getComplexity, type ComplexityEstimator } from 'graphql-query-complexity';
import { ApiError } from '../api-error.js';
import { nulError } from './document-limits.js';
import type { ApiLimits } from './api-limits.js';

/** Fields of an object that cost a statement for each object. */
const statementFields = new Set([
  'Device.sessions',
  'Device.toolSetHistory',
  'Device.events',
  'Device.calls',
  'Job.targets',
  'Job.failureGroups',
]);
const statementPoints = 20;
/** An act holds a place while a device or a worker does its part: no more than 50 in one operation. */
const mutationPoints = 200;
/** Objects in a list that has no `first`: tools of a device, mostly. */
const listLengthAssumed = 10;
/** Selections looked at while counting: fragments spread in fragments grow without end. */
const selectionsMax = 5_000;

export interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly variables: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName: string | null | undefined;
}

/** Throws COST_LIMIT where the operation may cost too much, BAD_USER_INPUT where its variables do not fit. */
export function refuseCostly(operation: Operation, limits: Pick<ApiLimits, 'queryCostMax' | 'pageRowsMax'>): void {
  if (operation.variables) refuseNul(operation.variables);
  const cost = operation.variables ? costOf(operation, limits.pageRowsMax) : constantCostOf(operation, limits.pageRowsMax);
  if (cost > limits.queryCostMax) {
    throw new ApiError(
      'COST_LIMIT',
      `The operation may cost ${cost} points, at most ${limits.queryCostMax} are allowed: ask for fewer rows ("first") or fewer nested lists.`,
    );
  }
}

/** Without variables a document always costs the same: counted once (33 µs), because Mercurius keeps the parsed documents of repeated queries. */
const constantCosts = new WeakMap<DocumentNode, Map<string | null | undefined, number>>();

function constantCostOf(operation: Operation, pageRowsMax: number): number {
  const { document, operationName } = operation;
  const costs = constantCosts.get(document) ?? new Map<string | null | undefined, number>();
  const cost = costs.get(operationName) ?? costOf(operation, pageRowsMax);
  if (getOperationAST(document, operationName)) constantCosts.set(document, costs.set(operationName, cost));
  return cost;
}

export function costOf({ schema, document, variables, operationName }: Operation, pageRowsMax: number): number {
  if (!getOperationAST(document, operationName)) return 0;
  return getComplexity({
    schema,
    query: document,
    variables: { ...variables },
    ...(typeof operationName === 'string' ? { operationName } : {}),
    estimators: [pointsOf(pageRowsMax)],
    maxQueryNodes: selectionsMax,
  });
}

function pointsOf(pageRowsMax: number): ComplexityEstimator {
  return ({ type, field, args, childComplexity }) => {
    if (!isCompositeType(getNamedType(field.type))) return 0;
    if (type.name === 'Mutation') return mutationPoints + childComplexity;
    const own = statementFields.has(`${type.name}.${field.name}`) ? statementPoints : 0;
    return own + timesOf(field.name, args, isListType(getNullableType(field.type)), pageRowsMax) * (1 + childComplexity);
  };
}

/** `nodes` and `edges` are as long as their connection's `first`, which has been counted there. A `first` out of range is refused by its resolver. */
function timesOf(name: string, args: Readonly<Record<string, unknown>>, isList: boolean, pageRowsMax: number): number {
  if (typeof args['first'] === 'number') return Math.min(Math.max(args['first'], 1), pageRowsMax);
  return isList && name !== 'nodes' && name !== 'edges' ? listLengthAssumed : 1;
}

/** NUL ends a string on the device and is no text for PostgreSQL. */
function refuseNul(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw nulError();
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      refuseNul(key);
      refuseNul(member);
    }
  }
}
