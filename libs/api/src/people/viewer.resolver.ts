import { Query, Resolver } from '@nestjs/graphql';
import type { ApiContext } from '../api-context.js';
import type { QueryResolvers, Viewer } from '../generated/schema-types.js';

/** Who asks. */
@Resolver()
export class ViewerResolver implements Required<Pick<QueryResolvers, 'viewer'>> {
  @Query()
  viewer(_root: unknown, _args: unknown, { viewer, session }: ApiContext): Viewer {
    return { name: session?.user.name ?? viewer.name, scopes: viewer.scopes, kind: viewer.kind, user: session?.user };
  }
}
