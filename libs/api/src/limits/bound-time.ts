/**
 * Limits the time of queries, field by field: the answer contains what was read in time. Mutations
 * have no such limit: a call has its own deadline, and the caller needs the outcome.
 */
import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType, OperationTypeNode } from 'graphql';
import { withTimeout } from '@flotilla/fleet';
import type { ApiContext } from '../api-context.js';
import { ApiError } from '../errors/api-error.js';

const nodeTimers = {
  setTimer(delayMs: number, wake: () => void) {
    const timer = setTimeout(wake, delayMs);
    return () => clearTimeout(timer);
  },
};

type Resolver = GraphQLFieldResolver<unknown, Pick<ApiContext, 'startedAt'>>;

/** Changes the given schema, which is ours alone, and returns it. */
export function boundTime(schema: GraphQLSchema, operationMsMax: number): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type === schema.getMutationType() || type === schema.getSubscriptionType()) continue;
    for (const field of Object.values(type.getFields()))
      if (field.resolve) field.resolve = bounded(field.resolve as Resolver, operationMsMax);
  }
  return schema;
}

function bounded(resolve: Resolver, operationMsMax: number): Resolver {
  return (source, args, context, info) => {
    const value = resolve(source, args, context, info);
    if (!(value instanceof Promise) || info.operation.operation !== OperationTypeNode.QUERY) return value;
    const leftMs = context.startedAt + operationMsMax - performance.now();
    return withTimeout<unknown>(value, Math.max(leftMs, 0), nodeTimers, () => {
      const seconds = operationMsMax / 1_000;
      throw new ApiError('UNAVAILABLE', `The query took longer than ${seconds} s. Ask for less, or try again later.`);
    });
  };
}
