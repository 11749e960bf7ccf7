import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { DeviceFilter, FleetCounts, OnlinePoint } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { parseDeviceFilter } from './device-filter-input.js';
import { pointCount, within } from '../limits/within.js';
import type {
  FleetSummaryCallsArgs,
  FleetSummaryOnlineHistoryArgs,
  QueryFleetSummaryArgs,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Counts, and whom they are of: history and calls are counted only when asked for. */
export interface FleetSummarySource extends FleetCounts {
  readonly filter: DeviceFilter | undefined;
}

const HOUR_MS = 3_600_000;
/** Records are kept longer, but a chart of more than a month is not readable. */
const HOURS_MAX = 31 * 24;

/** The fleet in figures. */
@Resolver('FleetSummary')
export class FleetSummaryResolver
  implements Serves<'Query', 'fleetSummary'>, Serves<'FleetSummary', 'onlineHistory' | 'calls'>
{
  @Query()
  async fleetSummary(_root: unknown, args: QueryFleetSummaryArgs, { view }: ApiContext): Promise<FleetSummarySource> {
    const filter = parseDeviceFilter(args.filter);
    return { ...(await view.fleetFigures.counts(filter)), filter };
  }

  @ResolveField()
  async onlineHistory(
    { filter }: FleetSummarySource,
    args: FleetSummaryOnlineHistoryArgs,
    { view }: ApiContext,
  ): Promise<readonly OnlinePoint[]> {
    const points = pointCount(args.points, 97);
    const until = Date.now();
    return view.fleetFigures.onlineHistory(filter, { since: until - hoursMs(args.hours), until, points });
  }

  @ResolveField()
  async calls({ filter }: FleetSummarySource, args: FleetSummaryCallsArgs, { view }: ApiContext) {
    return view.fleetFigures.callCounts(filter, Date.now() - hoursMs(args.hours));
  }
}

function hoursMs(hours: number | null | undefined): number {
  return within('hours', hours ?? 24, { least: 1, most: HOURS_MAX }) * HOUR_MS;
}
