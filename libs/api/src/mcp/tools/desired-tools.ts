/** Desired states for agents: a preview, the creation after a confirmation, and reading. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { outOfSyncStates } from '@flotilla/desired-state';
import type { DesiredStateRequest } from '@flotilla/fleet';
import { maskReported } from '@flotilla/jobs';
import type { JsonObject } from '@flotilla/mcp';
import type { DesiredStateRow, DesiredStateSummaryRow, DesiredTargetRow } from '@flotilla/registry';
import { shownArguments, type Reader } from '../../calls/shown-arguments.js';
import { shownDeviceFilter } from '../../devices/shown-device-filter.js';
import type { FleetOperations } from '../../fleet-operations.js';
import { jsonResult, quotingResult, refusalResult } from '../results/agent-results.js';
import { plainDescription, plainLine, plainName, plainValue } from '../results/untrusted-text.js';
import { actorOfCaller, callerMay, readerOf, type AgentCaller } from '../session/agent-caller.js';
import { keyIn } from './call-on-many.js';
import { shownSample } from './device-arguments.js';
import { nextAfterPreview, standingDevices } from './standing-devices.js';

export interface DesiredToolDeps {
  readonly fleet: Pick<FleetOperations, 'createDesiredState' | 'previewDesiredState'>;
}

/** Desired states, and devices of one that are out of sync, in one answer. */
const pageRows = 50;
const holdSecondsDefault = 1_800;
const maxInFlightDefault = 200;
/** Without it, an agent would create a state that sets nothing. */
const conflictHint =
  'The conflicts want another value with equal priority. ' +
  'Nothing is sent to devices of these conflicts: give another priority. ';

export async function createDesiredState(
  { fleet }: DesiredToolDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const selected = await standingDevices(caller, args);
  if ('failure' in selected) return selected.failure;
  const request = requestOf(args, selected.filter);
  const preview = await fleet.previewDesiredState(request, actorOfCaller(caller));
  if (preview.refusal !== undefined)
    return refusalResult({ ...preview.refusal, message: `${preview.refusal.message} Nothing was done.` });
  const { targetCount: devices, sample } = preview;
  const conflicts = callerMay(caller, 'JOBS_READ') ? preview.conflicts : undefined;
  if (args['confirmDevices'] !== devices)
    return jsonResult({
      preview: true,
      devices,
      inSync: preview.inSyncCount,
      wouldChange: preview.changeCount,
      unsupported: preview.unsupportedCount,
      unknown: preview.unknownCount,
      ...(conflicts && { conflicts: conflicts.map(({ id, name }) => ({ id, name: plainLine(name) })) }),
      ...shownSample(caller, sample),
      next:
        (conflicts?.length ? conflictHint : '') +
        nextAfterPreview({ noun: 'desired state', listedBy: 'desired_states' }, devices, args),
    });
  const saved = await fleet.createDesiredState(request, keyIn(args), actorOfCaller(caller));
  if ('refusal' in saved) return refusalResult(saved.refusal);
  return jsonResult({ desiredState: saved.state.id, devices, next: 'desired_states shows who is in sync.' });
}

function requestOf(args: JsonObject, devices: DesiredStateRequest['devices']): DesiredStateRequest {
  const { arguments: given, mode, onDrift, holdSeconds, priority, window } = args;
  return {
    name: String(args['name']),
    tool: String(args['tool']),
    arguments: (given ?? {}) as JsonObject,
    devices,
    mode: mode === 'REPORT' ? 'REPORT' : 'ENFORCE',
    onDrift: onDrift === 'REVERT' || onDrift === 'ACCEPT' ? onDrift : 'HOLD',
    holdSeconds: typeof holdSeconds === 'number' ? holdSeconds : holdSecondsDefault,
    priority: typeof priority === 'number' ? priority : 0,
    window: window as DesiredStateRequest['window'],
    waves: undefined,
    abort: undefined,
    maxInFlight: maxInFlightDefault,
    perMinute: undefined,
    enabled: true,
  };
}

export async function desiredStates(
  _deps: DesiredToolDeps,
  caller: AgentCaller,
  args: JsonObject,
): Promise<CallToolResult> {
  const { view } = caller;
  const { id, after } = args;
  const from = typeof after === 'string' && after !== '' ? { after } : {};
  if (typeof id === 'string' && id !== '') return oneState(caller, id, from);
  const page = await view.desiredStates.page({ first: pageRows, ...from });
  const summaries = await view.desiredStates.summaries(page.rows.map((row) => row.id));
  const reader = readerOf(caller);
  const shown = await Promise.all(page.rows.map((row, index) => shownState(row, summaries[index], reader)));
  return jsonResult({ desiredStates: shown, ...moreOf(page) });
}

/** With its devices that are out of sync. */
async function oneState(caller: AgentCaller, id: string, from: { readonly after?: string }): Promise<CallToolResult> {
  const { desiredStates: states } = caller.view;
  const row = await states.find(id);
  if (row === undefined)
    return refusalResult({ code: 'NOT_FOUND', message: `There is no desired state "${id.slice(0, 100)}".` });
  const [[summary], page] = await Promise.all([
    states.summaries([row.id]),
    states.targets(row.id, outOfSyncStates, { first: pageRows, ...from }),
  ]);
  const outOfSync = page.rows.map((target) => shownTarget(caller, target, row));
  const shown = await shownState(row, summary, readerOf(caller));
  return quotingResult({ desiredStates: [{ ...shown, outOfSync }], ...moreOf(page) });
}

function moreOf({ hasNextPage, cursors }: { readonly hasNextPage: boolean; readonly cursors: readonly string[] }) {
  return { more: hasNextPage, ...(hasNextPage && { next: cursors.at(-1) }) };
}

async function shownState(row: DesiredStateRow, summary: DesiredStateSummaryRow | undefined, reader: Reader) {
  const { id, mode, onDrift, priority, window, enabled, pausedReason, generation } = row;
  return {
    id,
    name: plainLine(row.name),
    tool: plainName(row.tool),
    arguments: plainValue(await shownArguments(row, reader)),
    devices: plainValue(await shownDeviceFilter(row.devices, reader)),
    mode,
    onDrift,
    priority,
    enabled,
    generation,
    createdBy: plainLine(row.createdBy),
    ...(window !== undefined && { window }),
    ...(pausedReason !== undefined && { pausedReason }),
    byState: Object.fromEntries(summary?.counts ?? []),
  };
}

function shownTarget(caller: AgentCaller, target: DesiredTargetRow, { readback }: DesiredStateRow) {
  const { deviceId, state, since, reported, nextTryAt, error } = target;
  return {
    ...(callerMay(caller, 'DEVICES_READ') && { device: deviceId }),
    state,
    since: new Date(since).toISOString(),
    ...(reported !== undefined && { deviceSays: plainValue(maskReported(readback, reported)) }),
    ...(nextTryAt !== undefined && { nextTryAt: new Date(nextTryAt).toISOString() }),
    ...(error !== undefined && { error: `${error.code}: ${plainDescription(error.message)}` }),
  };
}
