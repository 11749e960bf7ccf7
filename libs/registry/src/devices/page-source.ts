/**
 * How a page of devices is read so that it comes in its order and ends where it is full, whatever share of the fleet the filter matches and wherever those
 * devices stand: those with one tag, in the order of that tag; those with one of few values, each in its order and then merged; or all of them.
 */
import { bind } from '../database/sql-parameters.js';
import type { GroundFilter } from '../device-filter.js';
import type { DeviceOrder } from './device-types.js';
import type { ResolvedFilter } from './resolved-filter.js';

/** Values whose devices are read side by side: each costs a page of rows. */
const BRANCHES_MAX = 16;

/** The columns that an order goes by. */
export interface OrderColumns {
  readonly id: string;
  /** Those without a name last. */
  readonly name: string;
}

export interface PageSource {
  /** Has the row of the device as `d`. */
  readonly from: string;
  readonly by: OrderColumns;
  /** What is to be read for each of: `value`, as the source `v`. */
  readonly each?: string;
  /** What of the filter `from` does not say yet. */
  readonly rest: GroundFilter | undefined;
}

/** As the indexes have it. */
const ofDevice: OrderColumns = { id: 'd.id', name: `(d.name IS NULL), (coalesce(d.name, ''))` };
const ofTag: OrderColumns = { id: 't.device_id', name: 't.is_nameless, t.name' };

export function sourceOf(
  order: DeviceOrder,
  filter: GroundFilter | undefined,
  resolved: ResolvedFilter | undefined,
  parameters: unknown[],
): PageSource {
  const everything = { from: 'device d', by: ofDevice, rest: filter };
  // Presence moves devices in the order of last contact, so that there are no indexes of it by anything else.
  if (filter === undefined || order === 'LAST_SEEN_DESC') return everything;
  const tagged = lift(
    filter,
    ({ tags: [tag, ...more] = [], ...rest }) =>
      tag && { lead: tag, rest: more.length > 0 ? { ...rest, tags: more } : rest },
  );
  if (tagged) {
    const from = `device_tag t JOIN device d ON d.id = t.device_id AND t.tag = ${bind(parameters, tagged.lead)}`;
    return { from, by: ofTag, rest: tagged.rest };
  }
  const several =
    lift(filter, ({ hasTool, ...rest }) => oneOf('tool_set_hash', resolved?.toolSets.get(hasTool ?? ''), rest)) ??
    lift(filter, ({ firmwareBefore, ...rest }) =>
      oneOf('firmware_version', resolved?.versionsBefore.get(firmwareBefore ?? ''), rest),
    );
  if (!several) return everything;
  const { column, values } = several.lead;
  return {
    from: `(SELECT * FROM device d WHERE d.${column} = v.value) d`,
    by: ofDevice,
    each: `unnest(${bind(parameters, values)}::text[]) AS v(value)`,
    rest: several.rest,
  };
}

interface Lifted<Lead> {
  readonly lead: Lead;
  readonly rest: GroundFilter;
}

/** One value needs no help, and many cost more than they save. Beside a model or version their own indexes do better. */
function oneOf(
  column: string,
  values: readonly string[] = [],
  rest: GroundFilter,
): Lifted<{ readonly column: string; readonly values: readonly string[] }> | undefined {
  if (rest.model !== undefined || rest.firmwareVersion !== undefined) return undefined;
  return values.length > 1 && values.length <= BRANCHES_MAX ? { lead: { column, values }, rest } : undefined;
}

/** Takes one condition out of what each device must match: the filter itself, what narrows it, or the only member of its `any`. */
function lift<Lead>(
  filter: GroundFilter,
  take: (part: GroundFilter) => Lifted<Lead> | undefined | '',
): Lifted<Lead> | undefined {
  const own = take(filter);
  // Where it was the only condition, the rest is about every device.
  if (own) return { ...own, rest: { ...own.rest, all: true } };
  const { within, any = [] } = filter;
  const inner = within && lift(within, take);
  if (inner) return { ...inner, rest: { ...filter, within: inner.rest } };
  const [only] = any;
  const member = only !== undefined && any.length === 1 ? lift(only, take) : undefined;
  return member && { ...member, rest: { ...filter, any: [member.rest] } };
}
