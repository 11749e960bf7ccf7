/** `call_tool_on_many`: shows what a job would do, and creates it when the caller confirms. */
import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { requestHash } from '@flotilla/fleet';
import type { Actor, JobAnswer, JobPreview, JobRequest } from '@flotilla/fleet';
import type { JsonObject } from '@flotilla/mcp';
import type { DeviceRow } from '@flotilla/registry';
import type { FleetOperations } from '../../fleet-operations.js';
import { dateTimeScalar } from '../../scalars/date-time.scalar.js';
import { errorResult, jsonResult, quotingResult, refusalResult } from '../results/agent-results.js';
import { plainDescription } from '../results/untrusted-text.js';
import { actorOfCaller, callerMay, mayCall, type AgentCaller } from '../session/agent-caller.js';
import { selectedDevices, shownSample, type SelectedDevices } from './device-arguments.js';
import { callOnManyMax } from './fleet-tools.js';

interface CallOnManyDeps {
  readonly fleet: Pick<FleetOperations, 'createJob' | 'earlierJob' | 'previewJob'>;
}

type Group = Extract<SelectedDevices, { readonly filter: object }>['group'];

/** The devices are named in the job, so that it reaches those that were counted and no others. */
export async function callToolOnMany(
  { fleet }: CallOnManyDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const tool = String(args['tool']);
  if (!mayCall(caller, { name: tool, userOnly: false }) || !callerMay(caller, 'TOOLS_CALL'))
    return refusalResult({ code: 'TOOL_FORBIDDEN', message: `This key may not call "${tool}".` });
  const actor = actorOfCaller(caller);
  const repeated = await repeatedJob(fleet, args, actor);
  if (repeated !== undefined) return started(repeated, Number(args['confirmDevices']));
  const selected = await selectedDevices(caller, args);
  if ('unknownGroup' in selected) return refusalResult({ code: 'NOT_FOUND', message: selected.unknownGroup });
  if (Object.keys(selected.filter).every((condition) => condition === 'hasTool'))
    return errorResult('INVALID: Select devices by ids, search, tags, group, model or presence. Nothing was done.');
  const startAt = startIn(args);
  if (startAt === null)
    return errorResult(
      'ARGUMENTS_INVALID: "startAt" must be a time with a zone, such as 2026-01-31T03:00:00+01:00. Nothing was done.',
    );
  const { rows, hasNextPage } = await caller.view.devices.page(selected.filter, 'ID_ASC', { first: callOnManyMax });
  if (hasNextPage)
    return errorResult(
      `LIMIT_EXCEEDED: More than ${callOnManyMax} devices match. Add conditions to select fewer. Nothing was done.`,
    );
  const request = requestOf(args, rows, startAt);
  if (rows.length === 0 || args['confirmDevices'] !== rows.length)
    return shownPreview(caller, rows, rows.length === 0 ? undefined : await fleet.previewJob(request, actor), {
      startAt,
      group: selected.group,
    });
  return started(await fleet.createJob(request, keyIn(args), actor, hashOf(args)), rows.length);
}

/** The devices of a repetition may be others by now, so they are not selected again. */
async function repeatedJob(
  fleet: CallOnManyDeps['fleet'],
  args: JsonObject,
  actor: Actor,
): Promise<JobAnswer | undefined> {
  const { confirmDevices, idempotencyKey } = args;
  if (confirmDevices === undefined || typeof idempotencyKey !== 'string') return undefined;
  return fleet.earlierJob({ idempotencyKey, requestHash: hashOf(args) }, actor);
}

/** What the caller asked for, without the devices that it selected. */
function hashOf(args: JsonObject): string {
  return requestHash({ callOnMany: { ...args, confirmDevices: undefined, idempotencyKey: undefined } });
}

function started({ job, refusal }: JobAnswer, devices: number): CallToolResult {
  if (job === undefined)
    return refusalResult(refusal ?? { code: 'INVALID', message: 'The hub could not create the job.' });
  return jsonResult({
    job: job.id,
    state: job.state,
    devices: job.total ?? devices,
    ...(job.startAt !== undefined && { startAt: new Date(job.startAt).toISOString() }),
    next: 'Follow it with job_status.',
  });
}

function requestOf(args: JsonObject, rows: readonly DeviceRow[], startAt: number | undefined): JobRequest {
  const { tool, arguments: given, window, offline, expiresInSeconds } = args;
  return {
    name: 'call_tool_on_many',
    tool: String(tool),
    arguments: (given ?? {}) as JsonObject,
    devices: { ids: rows.map(({ id }) => id) },
    ...(startAt !== undefined && { startAt }),
    ...(window !== undefined && { window: window as NonNullable<JobRequest['window']> }),
    ...((offline === 'WAIT' || offline === 'SKIP') && { offline }),
    ...(typeof expiresInSeconds === 'number' && { expiresInSeconds }),
  };
}

function shownPreview(
  caller: AgentCaller,
  rows: readonly DeviceRow[],
  preview: JobPreview | undefined,
  { startAt, group }: { readonly startAt: number | undefined; readonly group: Group },
): CallToolResult {
  if (preview?.refusal !== undefined)
    return refusalResult({ ...preview.refusal, message: `${preview.refusal.message} Nothing was done.` });
  const { missingToolCount = 0, argumentErrors = [], warnings = [] } = preview ?? {};
  const rejected = [
    ...(missingToolCount === 0 ? [] : [{ message: 'The device does not have the tool.', devices: missingToolCount }]),
    ...argumentErrors.map(({ message, deviceCount }) => ({ message: plainDescription(message), devices: deviceCount })),
  ];
  const next =
    rows.length === 0
      ? 'No device matches all conditions and has the tool. find_devices shows devices and models.'
      : `To create the job, call again with confirmDevices ${rows.length}.`;
  return quotingResult({
    preview: true,
    devices: rows.length,
    online: rows.filter(({ presence }) => presence === 'ONLINE').length,
    ...shownSample(caller, rows),
    rejected,
    ...(preview !== undefined && { blastRadius: preview.blastRadius }),
    ...(warnings.length > 0 && { warnings: warnings.map(({ message }) => message) }),
    now: new Date().toISOString(),
    ...(startAt !== undefined && { startAt: new Date(startAt).toISOString() }),
    ...(group?.timeZone !== undefined && { timeZone: group.timeZone }),
    next: `Nothing was done. ${next}`,
  });
}

/** Null if it is not a time. An empty text is left out. */
function startIn({ startAt }: JsonObject): number | undefined | null {
  if (startAt === undefined || startAt === '') return undefined;
  try {
    return dateTimeScalar.parseValue(startAt);
  } catch {
    return null;
  }
}

/** Without a key each call creates a job. */
export function keyIn({ idempotencyKey }: JsonObject): string {
  return typeof idempotencyKey === 'string' ? idempotencyKey : randomUUID();
}
