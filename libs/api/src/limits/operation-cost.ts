/**
 * The highest cost of an operation in points, before it runs: about one for each object that it can
 * return, more for expensive reads and changes.
 */
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  Kind,
  visit,
} from 'graphql';
import { getComplexity, type ComplexityEstimatorArgs } from 'graphql-query-complexity';
import { ApiError } from '../errors/api-error.js';
import { pageRowsMax, type ApiLimits } from './api-limits.js';

/** A chart of the fleet combines up to 400,000 values: more than half a second of PostgreSQL. */
export const fleetChartPoints = 1_000;

/** Points that a field costs besides those of the objects in it. */
const extraPoints: ReadonlyMap<string, number> = new Map([
  // Read for each parent, although with one statement for all of them.
  ['Device.sessions', 20],
  ['Device.toolSetHistory', 20],
  ['Device.events', 20],
  ['Device.calls', 20],
  ['Device.groups', 20],
  // Combines up to 50,000 values, and is counted for each path.
  ['Device.measurements', 20],
  ['Device.unexpectedRestarts', 20],
  ['DeviceGroup.deviceCount', 20],
  ['Job.targets', 20],
  ['Webhook.deliveries', 20],
  ['Webhook.pendingEvents', 20],
  // Each parent costs a statement or two. With 20 points, usual lists of 200 parents cost too much.
  ['Device.alerts', 5],
  ['DeviceGroup.devices', 5],
  ['RecurringJob.jobs', 5],
  ['DesiredState.targets', 5],
  ['RecurringJob.runScopeMissing', 5],
  ['DesiredState.enableScopeMissing', 5],
  // These go over rows that they do not return: a job's targets, the fleet.
  ['Job.failureGroups', 200],
  ['Job.rerunOffer', 200],
  ['Job.decidedOverTime', 200],
  ['Job.viewerMaySteer', 200],
  ['Query.fleetSummary', 200],
  ['FleetSummary.onlineHistory', 200],
  ['FleetSummary.calls', 200],
  ['Query.tools', 200],
  ['Query.fleetMeasurements', fleetChartPoints],
  ['Query.fleetMeasurementPaths', 200],
  ['Query.firmwareHealth', 200],
  ['Query.previewJob', 200],
  ['Query.previewDesiredState', 200],
  ['Query.previewAlertRule', 200],
  ['Mutation.createJob', 200],
  ['Mutation.rerunJob', 200],
  ['Mutation.revertJob', 200],
  ['Mutation.tagDevices', 200],
  ['Mutation.removeDevices', 200],
  ['Mutation.setDevicesTransport', 200],
  ['Query.previewRegistration', 200],
]);
/** `totalCount` goes over 10,000 devices or jobs, once for a connection of any number of rows. */
const totalCountPoints = 200;
/** The whole schema, for any key; a rule of graphql limits introspection. */
const introspectionPoints = 500;
/** An act writes a few rows, and holds a place while a device or a worker does its part. */
const mutationPoints = 20;
/** Arguments whose value sets the cost of their field. */
const countedArguments: readonly string[] = ['first', 'paths'];
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

/** The cost of the operation. Throws COST_LIMIT, or BAD_USER_INPUT if its variables do not fit. */
export function refuseCostly(operation: Operation, limits: Pick<ApiLimits, 'queryCostMax'>): number {
  const cost = dependsOnVariables(operation.document) ? costOf(operation) : constantCostOf(operation);
  if (cost > limits.queryCostMax) {
    throw new ApiError(
      'COST_LIMIT',
      `The operation may cost ${cost} points; at most ${limits.queryCostMax} are allowed. ` +
        'Ask for fewer rows ("first") or fewer nested lists.',
    );
  }
  return cost;
}

/** Mercurius keeps the parsed documents of repeated queries, so that each is looked at once. */
const variableCosts = new WeakMap<DocumentNode, boolean>();
const constantCosts = new WeakMap<DocumentNode, Map<string | null | undefined, number>>();

/** Whether a variable sets the number of rows or paths, or is in a directive. */
function dependsOnVariables(document: DocumentNode): boolean {
  const known = variableCosts.get(document);
  if (known !== undefined) return known;
  let depends = false;
  visit(document, {
    Argument: ({ name, value }) => {
      if (countedArguments.includes(name.value) && value.kind === Kind.VARIABLE) depends = true;
    },
    Directive: ({ arguments: given }) => {
      if (given?.some(({ value }) => value.kind === Kind.VARIABLE)) depends = true;
    },
  });
  variableCosts.set(document, depends);
  return depends;
}

/** Counted once: counting costs more than a simple query. */
function constantCostOf(operation: Operation): number {
  const { document, operationName } = operation;
  const costs = constantCosts.get(document) ?? new Map<string | null | undefined, number>();
  const cost = costs.get(operationName) ?? costOf(operation);
  if (getOperationAST(document, operationName)) constantCosts.set(document, costs.set(operationName, cost));
  return cost;
}

export function costOf({ schema, document, variables, operationName }: Operation): number {
  if (!getOperationAST(document, operationName)) return 0;
  try {
    return getComplexity({
      schema,
      query: document,
      variables: { ...variables },
      ...(typeof operationName === 'string' ? { operationName } : {}),
      estimators: [pointsOf],
      maxQueryNodes: selectionsMax,
    });
  } catch (error) {
    // Errors of variables have a place in the document; the other error is the number of
    // selections.
    if (!(error instanceof GraphQLError)) throw error;
    if (error.nodes !== undefined) throw new ApiError('BAD_USER_INPUT', error.message, error);
    throw new ApiError(
      'COST_LIMIT',
      `The operation has more than ${selectionsMax} selections, counting each spread of a fragment.`,
      error,
    );
  }
}

function pointsOf({ type, field, args: given, node, childComplexity }: ComplexityEstimatorArgs): number {
  const args = withDefaultFirst(given, field);
  if (field.name.startsWith('__')) return field.name === '__typename' ? 0 : introspectionPoints;
  const extra = (extraPoints.get(`${type.name}.${field.name}`) ?? 0) * pathsIn(args);
  const own = extra + (mayCountAll(node) ? totalCountPoints : 0);
  if (!isCompositeType(getNamedType(field.type))) return own;
  if (type.name === 'Mutation') return mutationPoints + own + childComplexity;
  return own + timesOf(field.name, args, isListType(getNullableType(field.type))) * (1 + childComplexity);
}

/** For `first: null`, resolvers use the default of the schema as if it was left out. */
function withDefaultFirst(
  args: Readonly<Record<string, unknown>>,
  field: ComplexityEstimatorArgs['field'],
): Readonly<Record<string, unknown>> {
  if (args['first'] !== null) return args;
  return { ...args, first: field.args.find(({ name }) => name === 'first')?.defaultValue };
}

/** The series that a field reads. Of other fields, and of an empty list, it is 1. */
function pathsIn({ paths }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(paths) ? Math.max(paths.length, 1) : 1;
}

/** Asks for `totalCount`, or for a fragment in which it may be. */
function mayCountAll({ name, selectionSet }: FieldNode): boolean {
  const isConnection = name.value === 'devices' || name.value === 'jobs';
  return (
    isConnection &&
    (selectionSet?.selections.some((each) => each.kind !== Kind.FIELD || each.name.value === 'totalCount') ?? false)
  );
}

/** The rows of a connection were counted at its `first`; its resolver refuses an invalid one. */
function timesOf(name: string, args: Readonly<Record<string, unknown>>, isList: boolean): number {
  if (typeof args['first'] === 'number') return Math.min(Math.max(args['first'], 1), pageRowsMax);
  return isList && name !== 'nodes' && name !== 'edges' ? listLengthAssumed : 1;
}
