/** Carries out the tools of fleet-tools.ts. The arguments were checked against their schemas. */
import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '@flotilla/mcp';
import type { DeviceFilter, DeviceRow } from '@flotilla/registry';
import type { FleetOperations } from '../../fleet-operations.js';
import { emptyProgress, paceOf } from '../../jobs/job-progress.js';
import { actorOfCaller, callerMay, mayCall, type AgentCaller } from '../session/agent-caller.js';
import { errorResult, jsonResult, quotingResult, refusalResult, toAgentResult } from '../results/agent-results.js';
import { callOnManyMax, fleetTools, type FleetToolName } from './fleet-tools.js';
import { describedTool } from './listed-tool.js';
import type { ToolCatalogue } from './tool-catalogue.js';
import { plainDescription, plainLine } from '../results/untrusted-text.js';

export interface AgentDeps {
  readonly fleet: Pick<FleetOperations, 'callTool' | 'createJob'>;
  readonly catalogue: ToolCatalogue;
}

type Run = (deps: AgentDeps, caller: AgentCaller, args: JsonObject) => Promise<CallToolResult>;

/** Groups of failures in the status of a job. */
const failureGroupsMax = 10;
const devicesDefault = 20;
/**
 * UTF-16 code units of the tools of one device as JSON: three times those of the largest known
 * board.
 */
const describedToolsMax = 65_536;

export async function runFleetTool(
  deps: AgentDeps,
  caller: AgentCaller,
  name: FleetToolName,
  args: JsonObject,
): Promise<CallToolResult> {
  const { scope, compiled } = fleetTools[name];
  if (!callerMay(caller, scope))
    return refusalResult({
      code: 'FORBIDDEN',
      message: `${name} needs the scope ${scope}, which this key does not have.`,
    });
  const verdict = compiled.check(args);
  if (!verdict.ok) return refusalResult({ code: 'ARGUMENTS_INVALID', message: verdict.message });
  return runs[name](deps, caller, args);
}

const runs: Readonly<Record<FleetToolName, Run>> = {
  find_devices: findDevices,
  describe_device: describeDevice,
  call_tool: callTool,
  call_tool_on_many: callToolOnMany,
  job_status: jobStatus,
};

async function findDevices(_deps: AgentDeps, { view }: AgentCaller, args: JsonObject): Promise<CallToolResult> {
  const page = await view.devices.page(filterOf(args), 'ID_ASC', { first: Number(args['first'] ?? devicesDefault) });
  return quotingResult({ devices: page.rows.map(shownDevice), more: page.hasNextPage });
}

async function describeDevice(
  { catalogue }: AgentDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const found = await catalogue.describe(caller, String(args['device']));
  if (found === undefined) return unknownDevice(String(args['device']));
  const wanted =
    args['tool'] === undefined ? found.tools : found.tools.filter(({ tool }) => tool.name === args['tool']);
  if (wanted.length === 0 && args['tool'] !== undefined)
    return refusalResult({ code: 'NOT_FOUND', message: `The device has no such tool that this key may call.` });
  let left = describedToolsMax;
  const tools = wanted.map((entry) => {
    const described = describedTool(entry);
    left -= JSON.stringify(described).length;
    return left >= 0 ? described : { name: described['name'], mcpName: described['mcpName'], leftOut: true };
  });
  const next = left < 0 && { next: 'There is no room for all of it: call again with `tool` for one that is left out.' };
  return quotingResult({ ...shownDevice(found.device), tools, ...next });
}

async function callTool({ fleet }: AgentDeps, caller: AgentCaller, args: JsonObject): Promise<CallToolResult> {
  const request = {
    deviceId: String(args['device']),
    tool: String(args['tool']),
    arguments: objectIn(args, 'arguments'),
  };
  return toAgentResult(await fleet.callTool(request, actorOfCaller(caller)));
}

/** The devices are named in the job, so that it reaches those that were counted and no others. */
async function callToolOnMany({ fleet }: AgentDeps, caller: AgentCaller, args: JsonObject): Promise<CallToolResult> {
  const tool = String(args['tool']);
  if (!mayCall(caller, { name: tool, userOnly: false }) || !callerMay(caller, 'TOOLS_CALL'))
    return refusalResult({ code: 'TOOL_FORBIDDEN', message: `This key may not call "${tool}".` });
  const filter: DeviceFilter = { ...filterOf(args), hasTool: tool };
  if (filter.ids === undefined && filter.search === undefined && filter.tags === undefined)
    return errorResult('INVALID: Say which devices: ids, search or tags. Nothing was done.');
  const { rows, hasNextPage } = await caller.view.devices.page(filter, 'ID_ASC', { first: callOnManyMax });
  const ids = rows.map(({ id }) => id);
  if (hasNextPage)
    return errorResult(`LIMIT_EXCEEDED: More than ${callOnManyMax} devices match; narrow it down. Nothing was done.`);
  if (args['confirmDevices'] !== ids.length || ids.length === 0) {
    const online = rows.filter(({ presence }) => presence === 'ONLINE').length;
    const next = ids.length === 0 ? 'No device matches.' : `To start, call again with confirmDevices ${ids.length}.`;
    return jsonResult({
      preview: true,
      devices: ids.length,
      online,
      sample: ids.slice(0, devicesDefault),
      next: `Nothing was done. ${next}`,
    });
  }
  const request = { name: 'call_tool_on_many', tool, arguments: objectIn(args, 'arguments'), devices: { ids } };
  const { job, refusal } = await fleet.createJob(request, keyIn(args), actorOfCaller(caller));
  if (job === undefined) return refusalResult(refusal ?? { code: 'INVALID', message: 'The job was not made.' });
  return jsonResult({ job: job.id, devices: ids.length });
}

async function jobStatus(_deps: AgentDeps, { view: { jobs } }: AgentCaller, args: JsonObject): Promise<CallToolResult> {
  const job = await jobs.find(String(args['job']));
  if (job === undefined)
    return refusalResult({ code: 'NOT_FOUND', message: `There is no job "${String(args['job']).slice(0, 100)}".` });
  const [progress, [groups = []]] = await Promise.all([
    jobs.progress([job.id]),
    jobs.failureGroups([job.id], failureGroupsMax),
  ]);
  const counts = progress.get(job.id) ?? emptyProgress;
  const failures = groups.map(({ outcome, code, message, count }) => ({
    outcome,
    code,
    count,
    message: plainDescription(message),
  }));
  const conclusion = job.state === 'FINISHED' ? job.conclusion : undefined;
  return quotingResult({
    job: job.id,
    tool: job.tool,
    state: job.state,
    conclusion,
    progress: counts,
    ...paceOf(job, counts, Date.now()),
    failures,
  });
}

export function shownDevice(device: DeviceRow) {
  const { id, name, dialect, presence, tags, model, firmwareVersion, connectedAt, lastSeenAt } = device;
  return {
    ...{ id, name: name && plainLine(name), dialect, presence, tags: tags.map((tag) => plainLine(tag)) },
    deviceSays: { model: model && plainLine(model), firmwareVersion: firmwareVersion && plainLine(firmwareVersion) },
    connectedAt: connectedAt && new Date(connectedAt).toISOString(),
    lastSeenAt: lastSeenAt && new Date(lastSeenAt).toISOString(),
  };
}

/** Empty texts and lists mean the same as leaving out: models like to fill everything in. */
function filterOf({ search, tags, ids }: JsonObject): DeviceFilter {
  return {
    ...(typeof search === 'string' && search !== '' ? { search } : {}),
    ...(isTexts(tags) ? { tags } : {}),
    ...(isTexts(ids) ? { ids } : {}),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
}

/** Without a key each call creates a job. */
function keyIn({ idempotencyKey }: JsonObject): string {
  return typeof idempotencyKey === 'string' ? idempotencyKey : randomUUID();
}

function objectIn(args: JsonObject, name: string): JsonObject {
  const value = args[name];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function unknownDevice(id: string): CallToolResult {
  return refusalResult({ code: 'NOT_FOUND', message: `There is no device "${id.slice(0, 100)}".` });
}
