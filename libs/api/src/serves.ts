import type { Resolvers } from './generated/schema-types.js';

/** Methods for fields of a type of the schema, which take and return what the schema says. */
export type Serves<Type extends keyof Resolvers, Field extends keyof NonNullable<Resolvers[Type]>> = Required<
  Pick<NonNullable<Resolvers[Type]>, Field>
>;
