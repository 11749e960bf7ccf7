/** Adds the check of required-scopes.ts to the resolvers of a schema, for HTTP and WebSocket. */
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import type { Principal, Scope } from '@flotilla/registry';
import { hasScope, type ApiContext } from '../api-context.js';
import { ApiError } from '../errors/api-error.js';
import { fleetWideOperations, requiredScopes, type Hidden, type Requirement } from './required-scopes.js';

type Resolver = GraphQLFieldResolver<unknown, ApiContext>;

/**
 * Changes the given schema and returns it. Throws if a requirement names a field that does not
 * exist.
 */
export function guardScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const [typeName, fields] of Object.entries(requiredScopes)) {
    for (const [fieldName, requirement] of Object.entries(fields)) guardField(schema, typeName, fieldName, requirement);
  }
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {}))
    field.resolve = withPresentRights(field.resolve ?? defaultFieldResolver);
  return schema;
}

/** The mutations before it in the operation may take minutes each: rights can end meanwhile. */
function withPresentRights(resolve: Resolver): Resolver {
  return (source, args, context, info) => {
    const check = context.beforeMutation();
    return check === undefined
      ? resolve(source, args, context, info)
      : check.then(() => resolve(source, args, context, info));
  };
}

function guardField(schema: GraphQLSchema, typeName: string, fieldName: string, requirement: Requirement): void {
  const type = schema.getType(typeName);
  const field: GraphQLField<unknown, ApiContext> | undefined = isObjectType(type)
    ? type.getFields()[fieldName]
    : undefined;
  if (!field) throw new ApiError('INTERNAL', `required-scopes.ts names ${typeName}.${fieldName}, which is not served.`);
  if (requirement === 'ANY_KEY') return;
  if (typeof requirement === 'object') {
    field.resolve = hidden(field.resolve ?? defaultFieldResolver, requirement);
    return;
  }
  const name = `${typeName}.${fieldName}`;
  const wideNames: ReadonlySet<string> = fleetWideOperations;
  const rule: Rule = {
    name,
    scope: requirement,
    isFleetWide: requirement === 'ADMIN' || (typeName === 'Mutation' && wideNames.has(fieldName)),
  };
  if (field.subscribe) field.subscribe = guarded(field.subscribe, rule);
  else field.resolve = guarded(field.resolve ?? defaultFieldResolver, rule);
}

interface Rule {
  /** Of what is guarded, as the caller wrote it. */
  readonly name: string;
  readonly scope: Scope;
  readonly isFleetWide: boolean;
}

/** Throws FORBIDDEN. */
export function refuseViewer(viewer: Principal, { name, scope, isFleetWide }: Rule): void {
  if (!hasScope(viewer, scope))
    throw new ApiError('FORBIDDEN', `${name} needs the scope ${scope}, which you do not have.`);
  if (!isFleetWide || viewer.devices === undefined) return;
  const reason = scope === 'ADMIN' ? 'needs the scope ADMIN for all devices' : 'affects the whole fleet';
  throw new ApiError('FORBIDDEN', `${name} ${reason}, and this key is limited to some devices.`);
}

function hidden(resolve: Resolver, { without, shows }: Hidden): Resolver {
  return (source, args, context, info) =>
    hasScope(context.viewer, without) ? resolve(source, args, context, info) : shows;
}

function guarded(resolve: Resolver, rule: Rule): Resolver {
  return (source, args, context, info) => {
    refuseViewer(context.viewer, rule);
    return resolve(source, args, context, info);
  };
}
