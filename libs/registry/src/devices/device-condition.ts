/** The one compiler from device filters to SQL conditions over `device d`. Every condition is a parameter; nothing of a filter becomes SQL text. */
import { findHubTool, hubToolDialect } from '@flotilla/mcp';
import { IS_ON_NEW_VERSION } from '../jobs/on-new-version.js';
import type { DeviceFilter } from '../device-filter.js';
import { bind, containsPattern } from '../database/sql-parameters.js';
import type { GroundFilter } from '../device-filter.js';

/** Presence as it is now: the flag counts only while the gateway that set it holds its lease. */
export const IS_ONLINE = '(d.online AND EXISTS (SELECT FROM hub_process p WHERE p.id = d.gateway_id AND p.lease_until > now()))';

/** What is searched; the trigram index is on this very expression. */
const SEARCHED = `lower(d.id || E'\\n' || coalesce(d.name, ''))`;

/** For lists: no condition means every device. */
export function listedDeviceCondition(filter: GroundFilter | undefined, parameters: unknown[]): string {
  return filter === undefined ? 'TRUE' : compile(filter, parameters, 'TRUE');
}

/** For changes and jobs: no condition means no device, also inside `any` and `not`. */
export function deviceCondition(filter: GroundFilter, parameters: unknown[]): string {
  return compile(filter, parameters, 'FALSE');
}

type Empty = 'TRUE' | 'FALSE';

function compile(filter: GroundFilter, parameters: unknown[], empty: Empty): string {
  if (empty === 'FALSE' && !hasCondition(filter)) return 'FALSE';
  const conditions = [...ownConditions(filter, parameters), ...nestedConditions(filter, parameters, empty)];
  if (conditions.length > 0) return `(${conditions.join(' AND ')})`;
  return filter.all === true ? 'TRUE' : empty;
}

function hasCondition(filter: GroundFilter): boolean {
  const { any, not, all, ...own } = filter;
  if (all === true || Object.values(own).some((value) => value !== undefined)) return true;
  return any?.some(hasCondition) === true || (not !== undefined && hasCondition(not));
}

function ownConditions(filter: GroundFilter, parameters: unknown[]): string[] {
  const conditions: string[] = [];
  const when = <Value>(value: Value | undefined, condition: (value: Value) => string): void => {
    if (value !== undefined) conditions.push(condition(value));
  };
  when(filter.ids, (ids) => `d.id = ANY(${bind(parameters, ids)}::text[])`);
  when(filter.tags, (tags) => `d.tags @> ${bind(parameters, tags)}::text[]`);
  when(filter.dialect, (dialect) => `d.dialect = ${bind(parameters, dialect)}::dialect`);
  when(filter.model, (model) => `d.model = ${bind(parameters, model)}`);
  when(filter.firmwareVersion, (version) => `d.firmware_version = ${bind(parameters, version)}`);
  when(filter.firmwareBefore, (version) => `version_key(d.firmware_version) < version_key(${bind(parameters, version)})`);
  when(filter.presence, (presence) => (presence === 'ONLINE' ? IS_ONLINE : `NOT ${IS_ONLINE}`));
  when(filter.transport, (transport) => `d.transport = ${bind(parameters, transport)}::transport_kind`);
  when(filter.hasTool, (tool) => hasTool(tool, parameters));
  when(filter.toolsStale, (isStale) => (isStale ? 'd.tools_stale' : 'NOT d.tools_stale'));
  // A device that is online is seen now, whenever its row was last written.
  when(filter.lastSeenBefore, (at) => `(d.last_seen_at < to_timestamp(${bind(parameters, at)}::float8 / 1000) AND NOT ${IS_ONLINE})`);
  when(filter.targetsOf, ({ jobId, outcomes }) => {
    const [job, ends] = [bind(parameters, jobId), bind(parameters, outcomes)];
    return `EXISTS (SELECT FROM job_target t WHERE t.job_id = ${job}::uuid AND t.device_id = d.id AND t.outcome = ANY (${ends}::outcome[]))`;
  });
  when(filter.search, (text) => `${SEARCHED} LIKE ${bind(parameters, containsPattern(text))}`);
  when(filter.revertOf, (former) => isToGoBack(former, parameters));
  return conditions;
}

/** `imageId` is the one that the devices go back to: boards that have another one of that version are not meant. */
function isToGoBack({ imageId, jobId, version }: NonNullable<DeviceFilter['revertOf']>, parameters: unknown[]): string {
  return `EXISTS (SELECT FROM job j JOIN firmware_image i ON i.id = j.firmware_image_id JOIN job_target t ON t.job_id = j.id AND t.device_id = d.id
    WHERE j.id = ${bind(parameters, jobId)}::uuid AND ${IS_ON_NEW_VERSION} AND t.baseline_version = ${bind(parameters, version)}
      AND EXISTS (SELECT FROM firmware_release r WHERE r.image_id = ${bind(parameters, imageId)}::uuid AND r.model = d.model))`;
}

/** Sets are few: as an array they are found first, and a tool that few devices have does not cost a look at every device. */
function hasTool(tool: string, parameters: unknown[]): string {
  if (findHubTool(tool)) return `d.dialect = ${bind(parameters, hubToolDialect)}::dialect`;
  return `d.tool_set_hash = ANY (ARRAY(SELECT t.tool_set_hash FROM tool t WHERE t.name = ${bind(parameters, tool)}))`;
}

function nestedConditions(filter: GroundFilter, parameters: unknown[], empty: Empty): string[] {
  const conditions: string[] = [];
  // Who is in a group does not depend on who asks.
  if (filter.within !== undefined) conditions.push(compile(filter.within, parameters, 'FALSE'));
  if (filter.any !== undefined) {
    const members = filter.any.map((member) => compile(member, parameters, empty));
    conditions.push(members.length === 0 ? 'FALSE' : `(${members.join(' OR ')})`);
  }
  if (filter.not !== undefined) {
    // "IS NOT TRUE" and not NOT: a device about which the condition says NULL is in the complement.
    conditions.push(empty === 'FALSE' && !hasCondition(filter.not) ? 'FALSE' : `(${compile(filter.not, parameters, empty)} IS NOT TRUE)`);
  }
  return conditions;
}
