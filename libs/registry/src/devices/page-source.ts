/**
 * Chooses how a page of devices is read so that it arrives in order and reading stops when the page
 * is full: devices with one tag, in the order of that tag; devices with one of a few values, each
 * in order and then merged; or all devices.
 */
import { bind } from '../database/sql-parameters.js';
import type { ResolvedFilter } from '../device-filter.js';
import type { DeviceOrder } from './device-pages.js';
import type { FilterValues } from './filter-values.js';

/** Maximum of values whose devices are read side by side. Each costs a page of rows. */
const BRANCHES_MAX = 16;

/** The columns of an order. */
export interface OrderColumns {
  readonly id: string;
  /** Devices without a name come last. */
  readonly name: string;
}

interface PageSource {
  /** Provides the row of the device as `d`. */
  readonly from: string;
  readonly by: OrderColumns;
  /** `from` is read for each row of this source `v(value)`. */
  readonly each?: string;
  /** The conditions of the filter that `from` does not contain. */
  readonly rest: ResolvedFilter | undefined;
}

/** The columns and expressions of the indexes. */
const ofDevice: OrderColumns = { id: 'd.id', name: '(d.name IS NULL), d.sort_name' };
const ofTag: OrderColumns = { id: 't.device_id', name: 't.is_nameless, t.sort_name' };

export function sourceOf(
  order: DeviceOrder,
  filter: ResolvedFilter | undefined,
  values: FilterValues | undefined,
  parameters: unknown[],
): PageSource {
  const everything = { from: 'device d', by: ofDevice, rest: filter };
  // Presence changes the order by last contact, so no other column has an index with it.
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
    lift(filter, ({ hasTool, ...rest }) => oneOf('tool_set_hash', values?.toolSets.get(hasTool ?? ''), rest)) ??
    lift(filter, ({ firmwareBefore, ...rest }) =>
      oneOf('firmware_version', values?.versionsBefore.get(firmwareBefore ?? ''), rest),
    );
  if (!several) return everything;
  return {
    from: `(SELECT * FROM device d WHERE d.${several.lead.column} = v.value) d`,
    by: ofDevice,
    each: `unnest(${bind(parameters, several.lead.values)}::text[]) AS v(value)`,
    rest: several.rest,
  };
}

interface Lifted<Lead> {
  readonly lead: Lead;
  readonly rest: ResolvedFilter;
}

/**
 * One value needs no merging, and many cost more than they save. With a model or version, their
 * indexes are faster.
 */
function oneOf(
  column: string,
  values: readonly string[] = [],
  rest: ResolvedFilter,
): Lifted<{ readonly column: string; readonly values: readonly string[] }> | undefined {
  if (rest.model !== undefined || rest.firmwareVersion !== undefined) return undefined;
  return values.length > 1 && values.length <= BRANCHES_MAX ? { lead: { column, values }, rest } : undefined;
}

/** Takes one condition out of the filter, its `within`, or the only member of its `any`. */
function lift<Lead>(
  filter: ResolvedFilter,
  take: (part: ResolvedFilter) => Lifted<Lead> | undefined | '',
): Lifted<Lead> | undefined {
  const own = take(filter);
  // Without other conditions, the rest selects every device.
  if (own) return { ...own, rest: { ...own.rest, all: true } };
  const { within, any = [] } = filter;
  const inner = within && lift(within, take);
  if (inner) return { ...inner, rest: { ...filter, within: inner.rest } };
  const [only] = any;
  const member = only !== undefined && any.length === 1 ? lift(only, take) : undefined;
  return member && { ...member, rest: { ...filter, any: [member.rest] } };
}
