/** Carries out the tools of fleet-tools.ts. The arguments were checked against their schemas. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { emptyProgress } from '@flotilla/jobs';
import type { JsonObject } from '@flotilla/mcp';
import type { DeviceFilter } from '@flotilla/registry';
import type { FleetOperations } from '../../fleet-operations.js';
import { paceOf } from '../../jobs/job-progress.js';
import { actorOfCaller, callerMay, type AgentCaller } from '../session/agent-caller.js';
import { quotingResult, refusalResult, toAgentResult, unknownDevice } from '../results/agent-results.js';
import { plainDescription, plainLine, plainName } from '../results/untrusted-text.js';
import { callToolOnMany } from './call-on-many.js';
import { createDesiredState, desiredStates, type DesiredToolDeps } from './desired-tools.js';
import { selectedDevices, textIn } from './device-arguments.js';
import { fleetTools, type FleetToolName } from './fleet-tools.js';
import { describedTool } from './listed-tool.js';
import { readMeasurements, type MeasurementToolDeps } from './measurement-tools.js';
import { createRecurringJob, recurringJobs, type RecurringToolDeps } from './recurring-tools.js';
import { shownDevice } from './shown-device.js';
import type { ToolCatalogue } from './tool-catalogue.js';

export interface AgentDeps extends RecurringToolDeps, DesiredToolDeps, MeasurementToolDeps {
  readonly fleet: Pick<FleetOperations, 'callTool' | 'createJob' | 'earlierJob' | 'previewJob'> &
    RecurringToolDeps['fleet'] &
    DesiredToolDeps['fleet'];
  readonly catalogue: ToolCatalogue;
}

type Run = (deps: AgentDeps, caller: AgentCaller, args: JsonObject) => Promise<CallToolResult>;

/** Groups of failures in the status of a job. */
const failureGroupsMax = 10;
const devicesDefault = 20;
/** Models of one answer of `find_devices`. */
const modelsMax = 20;
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
  create_recurring_job: createRecurringJob,
  recurring_jobs: recurringJobs,
  create_desired_state: createDesiredState,
  desired_states: desiredStates,
  read_measurements: readMeasurements,
};

async function findDevices(_deps: AgentDeps, caller: AgentCaller, args: JsonObject): Promise<CallToolResult> {
  const { view } = caller;
  const selected = await selectedDevices(caller, args);
  if ('unknownGroup' in selected) return refusalResult({ code: 'NOT_FOUND', message: selected.unknownGroup });
  const { filter, group } = selected;
  const after = typeof args['after'] === 'string' && args['after'] !== '' ? args['after'] : undefined;
  const [page, matching] = await Promise.all([
    view.devices.page(filter, 'ID_ASC', {
      first: Number(args['first'] ?? devicesDefault),
      ...(after !== undefined && { after }),
    }),
    view.devices.count(filter),
  ]);
  const now = Date.now();
  return quotingResult({
    now: new Date(now).toISOString(),
    matching,
    ...(after === undefined && (await modelsOf(view, filter, matching))),
    devices: page.rows.map((device) => shownDevice(device, now)),
    more: page.hasNextPage,
    next: page.hasNextPage ? page.cursors.at(-1) : undefined,
    timeZone: group?.timeZone,
  });
}

/**
 * The models of the matching devices. If no device has the requested model, those of the devices
 * that match otherwise.
 */
async function modelsOf(
  { fleetFigures }: AgentCaller['view'],
  filter: DeviceFilter,
  matching: number | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  // Above this, the statement would read a large part of the fleet.
  if (matching === undefined) return {};
  const { model, ...others } = filter;
  const isUnknown = matching === 0 && model !== undefined;
  const { models } = await fleetFigures.counts(isUnknown ? others : filter);
  const shown = models.slice(0, modelsMax).flatMap(({ value, deviceCount }) =>
    // A device that did not report its model is not counted.
    value === undefined ? [] : { model: plainLine(value), devices: deviceCount },
  );
  const hint = 'No device matches with this model. deviceSays has the models of devices that match otherwise.';
  return { deviceSays: { models: shown }, ...(isUnknown && { hint }) };
}

async function describeDevice(
  { catalogue }: AgentDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const found = await catalogue.describe(caller, String(args['device']));
  if (found === undefined) return unknownDevice(String(args['device']));
  const name = textIn(args, 'tool');
  const wanted = name === undefined ? found.tools : found.tools.filter(({ tool }) => tool.name === name);
  if (wanted.length === 0 && name !== undefined)
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
    trace: caller.trace,
  };
  return toAgentResult(await fleet.callTool(request, actorOfCaller(caller)));
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
    tool: plainName(job.tool),
    state: job.state,
    conclusion,
    progress: counts,
    ...paceShown(paceOf(job, counts, Date.now())),
    startAt: job.startAt === undefined ? undefined : new Date(job.startAt).toISOString(),
    failures,
  });
}

function paceShown({ ratePerMinute, estimatedFinishAt }: ReturnType<typeof paceOf>) {
  return {
    ratePerMinute,
    estimatedFinishAt: estimatedFinishAt === undefined ? undefined : new Date(estimatedFinishAt).toISOString(),
  };
}

function objectIn(args: JsonObject, name: string): JsonObject {
  const value = args[name];
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}
