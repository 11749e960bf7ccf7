/** Puts the check of required-scopes.ts in front of the resolvers of a built schema, the same for HTTP and WebSocket. */
import { defaultFieldResolver, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import { hasScope, type ApiContext } from './api-context.js';
import { ApiError } from './api-error.js';
import { requiredScopes, type Requirement } from './required-scopes.js';

type Resolver = GraphQLFieldResolver<unknown, ApiContext>;

/** Changes the given schema, which is ours alone, and returns it. A requirement for a field that is not served is a mistake of ours and throws. */
export function guardScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const [typeName, fields] of Object.entries(requiredScopes)) {
    for (const [fieldName, requirement] of Object.entries(fields)) guardField(schema, typeName, fieldName, requirement);
  }
  return schema;
}

function guardField(schema: GraphQLSchema, typeName: string, fieldName: string, requirement: Requirement): void {
  const type = schema.getType(typeName);
  const field: GraphQLField<unknown, ApiContext> | undefined = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  if (!field) throw new ApiError('INTERNAL', `required-scopes.ts names ${typeName}.${fieldName}, which is not served.`);
  if (requirement === 'ANY_KEY') return;
  const name = `${typeName}.${fieldName}`;
  if (field.subscribe) field.subscribe = guarded(field.subscribe, name, requirement);
  else field.resolve = guarded(field.resolve ?? defaultFieldResolver, name, requirement);
}

function guarded(resolve: Resolver, name: string, scope: Exclude<Requirement, 'ANY_KEY'>): Resolver {
  return (source, args, context, info) => {
    if (!hasScope(context.viewer, scope)) throw new ApiError('FORBIDDEN', `${name} needs the scope ${scope}, which you do not have.`);
    return resolve(source, args, context, info);
  };
}
