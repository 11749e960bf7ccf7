import { Inject } from '@nestjs/common';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { EnrolmentLinkRow, EnrolmentRow } from '@flotilla/registry';
import { hasScope, type ApiContext } from '../api-context.js';
import { LIMITS, REGISTRY, type FleetWideStores } from '../api-deps.js';
import { pageRequest, toConnection, type Connection } from '../connection.js';
import type { EnrolmentResolvers, QueryEnrolmentsArgs, QueryResolvers } from '../generated/schema-types.js';
import type { ApiLimits } from '../limits/api-limits.js';

/** Devices that wait for approval, and the links for enrolment without a code. */
@Resolver('Enrolment')
export class EnrolmentResolver
  implements Required<Pick<QueryResolvers, 'enrolments' | 'enrolmentLinks'>>, Required<Pick<EnrolmentResolvers, 'code'>>
{
  constructor(
    @Inject(REGISTRY) private readonly registry: FleetWideStores,
    @Inject(LIMITS) private readonly limits: ApiLimits,
  ) {}

  /** The longest waiting first. These are not devices yet, so scoped keys see none. */
  @Query()
  async enrolments(
    _root: unknown,
    args: QueryEnrolmentsArgs,
    { viewer }: ApiContext,
  ): Promise<Connection<EnrolmentRow>> {
    const request = pageRequest(args, this.limits.pageRowsMax);
    if (viewer.devices !== undefined) return toConnection({ rows: [], cursors: [], hasNextPage: false });
    return toConnection(await this.registry.enrolments.page(request));
  }

  @Query()
  enrolmentLinks(): Promise<readonly EnrolmentLinkRow[]> {
    return this.registry.enrolments.links();
  }

  /**
   * The code proves that the caller is at the device; a list with codes would make it worthless.
   */
  @ResolveField()
  code({ code }: EnrolmentRow, _args: unknown, { viewer }: ApiContext): string | null {
    return hasScope(viewer, 'ADMIN') ? code : null;
  }
}
