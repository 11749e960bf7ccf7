import { Inject } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { EnrolmentRow } from '@flotilla/registry';
import { hasScope, type ApiContext } from '../api-context.js';
import { REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { QueryEnrolmentsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Devices that wait for approval, and the links for enrolment without a code. */
@Resolver('Enrolment')
export class EnrolmentResolver
  implements Serves<'Query', 'enrolments' | 'enrolmentLinks'>, Serves<'Enrolment', 'code'>
{
  constructor(@Inject(REGISTRY) private readonly registry: FleetWideStores) {}

  /** The longest waiting first. These are not devices yet, so scoped keys see none. */
  @Query()
  async enrolments(_root: unknown, args: QueryEnrolmentsArgs, { viewer }: ApiContext) {
    const request = pageRequest(args);
    if (viewer.devices !== undefined) return toConnection({ rows: [], cursors: [], hasNextPage: false });
    return toConnection(await this.registry.enrolments.page(request));
  }

  @Query()
  enrolmentLinks() {
    return this.registry.enrolments.links();
  }

  /**
   * The code proves that the caller is at the device; a list with codes would make it worthless.
   */
  @ResolveField()
  code({ code }: EnrolmentRow, _args: unknown, { viewer }: ApiContext) {
    return hasScope(viewer, 'ADMIN') ? code : null;
  }
}
