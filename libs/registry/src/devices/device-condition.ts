/**
 * Compiles device filters to SQL conditions over `device d`. All values become parameters, never
 * SQL text.
 */
import { findHubTool, hubToolDialect } from '@flotilla/mcp';
import { historyAttributesOf, sinceSql } from '../access-scope/history-attributes.js';
import { bind, containsPattern } from '../database/sql-parameters.js';
import { IS_OUT_OF_SYNC } from '../desired-states/out-of-sync.js';
import type { FormerTargets, FormerVersion, ResolvedFilter } from '../device-filter.js';
import { IS_ON_NEW_VERSION } from '../jobs/rollout/on-new-version.js';
import type { FilterValues } from './filter-values.js';

/** Presence now: the flag counts only while its gateway holds its lease. */
export const IS_ONLINE =
  '(d.online AND EXISTS (SELECT FROM hub_process p WHERE p.id = d.gateway_id AND p.lease_until > now()))';

/** The last contact that is stored. An index is on exactly this expression. */
const LAST_SEEN = `coalesce(d.last_seen_at, '-infinity'::timestamptz)`;

/**
 * The order by last contact: connected devices are in contact now, so they come before all others.
 * An index is on exactly this expression over the columns.
 */
export function lastContact(seenAt = 'd.last_seen_at', isOnline = 'd.online'): string {
  return `coalesce(${seenAt} AT TIME ZONE 'UTC' + CASE WHEN ${isOnline} THEN interval '1000 years'
    ELSE interval '0' END, '-infinity'::timestamp)`;
}

/**
 * The last contact as people see it: a connected device was seen just now, and one whose gateway
 * died when its lease ended. In steps, so that two looks within half a minute are equal.
 */
export const SEEN_AT = `(CASE WHEN d.online THEN greatest(d.last_seen_at,
  (SELECT least(p.lease_until, date_bin('30 seconds', now(), '2000-01-01')) FROM hub_process p
   WHERE p.id = d.gateway_id)) ELSE d.last_seen_at END)`;

/** For lists: a filter without conditions matches every device. */
export function listedDeviceCondition(
  filter: ResolvedFilter | undefined,
  parameters: unknown[],
  values?: FilterValues,
): string {
  return filter === undefined ? 'TRUE' : compile(filter, { parameters, values }, 'TRUE');
}

/**
 * For changes and jobs: a filter without conditions matches no device, also inside `any` and `not`.
 */
export function deviceCondition(filter: ResolvedFilter, parameters: unknown[]): string {
  return compile(filter, { parameters, values: undefined }, 'FALSE');
}

type Empty = 'TRUE' | 'FALSE';

interface Compilation {
  readonly parameters: unknown[];
  readonly values: FilterValues | undefined;
  /** The access scope around the filter. */
  readonly scope?: ResolvedFilter | undefined;
}

function compile(filter: ResolvedFilter, compilation: Compilation, empty: Empty): string {
  if (empty === 'FALSE' && !hasCondition(filter)) return 'FALSE';
  const conditions = [...ownConditions(filter, compilation), ...nestedConditions(filter, compilation, empty)];
  if (conditions.length > 0) return `(${conditions.join(' AND ')})`;
  return filter.all === true ? 'TRUE' : empty;
}

function hasCondition(filter: ResolvedFilter): boolean {
  const { any, not, all, ...own } = filter;
  if (all === true || Object.values(own).some((value) => value !== undefined)) return true;
  return any?.some(hasCondition) === true || (not !== undefined && hasCondition(not));
}

function ownConditions(filter: ResolvedFilter, compilation: Compilation): string[] {
  const { parameters } = compilation;
  const conditions: string[] = [];
  const when = <Value>(value: Value | undefined, condition: (value: Value) => string): void => {
    if (value !== undefined) conditions.push(condition(value));
  };
  when(filter.ids, (ids) => `d.id = ANY(${bind(parameters, ids)}::text[])`);
  when(filter.tags, (tags) => `d.tags @> ${bind(parameters, tags)}::text[]`);
  when(filter.dialect, (dialect) => `d.dialect = ${bind(parameters, dialect)}::dialect`);
  when(filter.model, (model) => `d.model = ${bind(parameters, model)}`);
  when(filter.firmwareVersion, (version) => `d.firmware_version = ${bind(parameters, version)}`);
  when(filter.firmwareBefore, (version) => isBefore(version, compilation));
  when(filter.presence, (presence) => (presence === 'ONLINE' ? isOnline(compilation) : isOffline(compilation)));
  when(filter.transport, (transport) => `d.transport = ${bind(parameters, transport)}::transport_kind`);
  when(filter.hasTool, (tool) => hasTool(tool, compilation));
  when(filter.toolsStale, (isStale) => (isStale ? 'd.tools_stale' : 'NOT d.tools_stale'));
  when(filter.lastSeenBefore, (at) => isSeenBefore(at, compilation));
  when(filter.outOfSync, (isOut) => (isOut ? IS_OUT_OF_SYNC : `NOT ${IS_OUT_OF_SYNC}`));
  when(filter.targetsOf, (former) => hasEnded(former, compilation));
  when(filter.search, (text) => {
    const pattern = bind(parameters, containsPattern(text));
    return `d.id IN (SELECT s.device_id FROM device_search s WHERE s.text LIKE lower(${pattern}))`;
  });
  when(filter.revertOf, (former) => isToGoBack(former, compilation));
  return conditions;
}

function hasEnded({ exceptCodes = [], jobId, onlySeen, outcomes }: FormerTargets, compilation: Compilation): string {
  const { parameters } = compilation;
  const [job, ends, codes] = [bind(parameters, jobId), bind(parameters, outcomes), bind(parameters, exceptCodes)];
  return `EXISTS (SELECT FROM job_target t
    WHERE t.job_id = ${job}::uuid AND t.device_id = d.id AND t.outcome = ANY (${ends}::outcome[])
      AND (t.error_code = ANY (${codes}::text[])) IS NOT TRUE AND ${isSeen(onlySeen, compilation)})`;
}

/**
 * Whether the device came into the access scope before the job. The filters of groups are older
 * than a job of which the viewer sees a target. [docs/keys.md]
 */
function isSeen(onlySeen: boolean | undefined, { parameters, scope }: Compilation): string {
  if (onlySeen !== true) return 'TRUE';
  const since = scope && sinceSql(historyAttributesOf(scope), parameters);
  return since === undefined ? 'FALSE' : `t.job_id >= uuid_from(${since})`;
}

/** Boards whose image of that version is another one do not match. */
function isToGoBack({ imageId, jobId, onlySeen, version }: FormerVersion, compilation: Compilation): string {
  const { parameters } = compilation;
  return `EXISTS (SELECT FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id
      JOIN job_target t ON t.job_id = j.id AND t.device_id = d.id
    WHERE j.id = ${bind(parameters, jobId)}::uuid AND ${IS_ON_NEW_VERSION} AND ${isSeen(onlySeen, compilation)}
      AND t.baseline_version = ${bind(parameters, version)}
      AND EXISTS (SELECT FROM firmware_release r
        WHERE r.image_id = ${bind(parameters, imageId)}::uuid AND r.model = d.model))`;
}

/**
 * The few matching tool sets are found first, as an array, so that a rare tool does not read every
 * device.
 */
function hasTool(tool: string, { parameters, values }: Compilation): string {
  if (findHubTool(tool)) return `d.dialect = ${bind(parameters, hubToolDialect)}::dialect`;
  const sets = values?.toolSets.get(tool);
  if (sets !== undefined) return oneOf('d.tool_set_hash', sets, parameters);
  return `d.tool_set_hash = ANY (ARRAY(SELECT t.tool_set_hash FROM tool t WHERE t.name = ${bind(parameters, tool)}))`;
}

function isBefore(version: string, { parameters, values }: Compilation): string {
  const earlier = values?.versionsBefore.get(version);
  if (earlier !== undefined) return oneOf('d.firmware_version', earlier, parameters);
  return `version_key(d.firmware_version) < version_key(${bind(parameters, version)})`;
}

/** An equality where possible: an index keeps its order after one value, but not after several. */
function oneOf(column: string, values: readonly string[], parameters: unknown[]): string {
  if (values.length === 0) return 'FALSE';
  return values.length === 1
    ? `${column} = ${bind(parameters, values[0])}`
    : `${column} = ANY (${bind(parameters, values)}::text[])`;
}

function isOnline({ parameters, values }: Compilation): string {
  if (values === undefined) return IS_ONLINE;
  return values.ghosts.length === 0
    ? 'd.online'
    : `(d.online AND d.gateway_id <> ALL (${bind(parameters, values.ghosts)}::uuid[]))`;
}

function isOffline({ parameters, values }: Compilation): string {
  if (values === undefined) return `NOT ${IS_ONLINE}`;
  return values.ghosts.length === 0
    ? 'NOT d.online'
    : `(NOT d.online OR d.gateway_id = ANY (${bind(parameters, values.ghosts)}::uuid[]))`;
}

/**
 * A device that is marked online counts as seen now, even if its row was written long ago. If its
 * gateway died, the row says so soon.
 */
function isSeenBefore(at: number, { parameters }: Compilation): string {
  const bound = `to_timestamp(${bind(parameters, at)}::float8 / 1000)`;
  return `(${LAST_SEEN} < ${bound} AND d.last_seen_at IS NOT NULL AND NOT d.online)`;
}

function nestedConditions(filter: ResolvedFilter, outer: Compilation, empty: Empty): string[] {
  const conditions: string[] = [];
  const compilation = { ...outer, scope: filter.within ?? outer.scope };
  // Groups do not depend on the caller, so an empty one matches no device in lists too.
  if (filter.within !== undefined) conditions.push(compile(filter.within, compilation, 'FALSE'));
  if (filter.any !== undefined) {
    const members = filter.any.map((member) => compile(member, compilation, empty));
    conditions.push(members.length === 0 ? 'FALSE' : `(${members.join(' OR ')})`);
  }
  if (filter.not !== undefined) {
    // IS NOT TRUE instead of NOT: a device for which the condition is NULL is in the complement.
    conditions.push(
      empty === 'FALSE' && !hasCondition(filter.not)
        ? 'FALSE'
        : `(${compile(filter.not, compilation, empty)} IS NOT TRUE)`,
    );
  }
  return conditions;
}
