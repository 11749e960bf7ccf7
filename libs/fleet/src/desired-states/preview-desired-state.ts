/** What saving a desired state would do. Stores nothing and calls no device. */
import { windowsOverlap } from '@flotilla/desired-state';
import { isSameValue } from '@flotilla/jobs';
import type { Readback } from '@flotilla/jobs';
import { hasMaskedSecret } from '@flotilla/mcp';
import { propertyOf, scopedFilter } from '@flotilla/registry';
import type { DesiredStateRow, DeviceRow } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { EligibilityCheck } from '../jobs/eligibility-check.js';
import type { Refusal } from '../refusal.js';
import { checkDesiredState } from './desired-state-request.js';
import type { DesiredStateRequest } from './desired-state-request.js';
import { ownState, completedEdit } from './desired-states.js';
import type { DesiredStateDeps } from './desired-states.js';

export interface DesiredStatePreview {
  readonly targetCount: number;
  readonly inSyncCount: number;
  readonly changeCount: number;
  readonly unsupportedCount: number;
  readonly unknownCount: number;
  readonly conflicts: readonly DesiredStateRow[];
  readonly sample: readonly DeviceRow[];
  readonly refusal: Refusal | undefined;
}

const SAMPLE_MAX = 20;
const nothing = { targetCount: 0, inSyncCount: 0, changeCount: 0, unsupportedCount: 0, unknownCount: 0 };

/** `id`: the desired state that would be edited. It is not in its own way. */
export async function previewDesiredState(
  deps: DesiredStateDeps,
  request: DesiredStateRequest,
  actor: Actor,
  id?: string,
): Promise<DesiredStatePreview> {
  const former = id === undefined ? undefined : await ownState(deps, id, actor);
  const completed = former === undefined ? request : await completedEdit(deps, former, request, actor);
  if ('refusal' in completed) return refused(completed.refusal);
  const checked = await checkDesiredState(deps, completed, actor);
  if ('refusal' in checked) return refused(checked.refusal);
  const scoped = { ...completed, devices: scopedFilter(completed.devices, actor.devices) };
  const { readback } = checked;
  const [{ sampleIds, ...counts }, conflicts] = await Promise.all([
    countDevices(deps, scoped, readback, actor),
    conflictsOf(deps, scoped, readback, id),
  ]);
  const view = deps.registry.viewFor(actor);
  const [found, visible] = await Promise.all([
    view.devices.findMany(sampleIds),
    view.desiredStates.findMany(conflicts.map((state) => state.id)),
  ]);
  return {
    ...counts,
    conflicts: visible.flatMap((state) => state ?? []),
    sample: found.flatMap((device) => device ?? []),
    refusal: undefined,
  };
}

function refused(refusal: Refusal): DesiredStatePreview {
  return { ...nothing, conflicts: [], sample: [], refusal };
}

async function countDevices(
  { callRules, registry }: DesiredStateDeps,
  { arguments: args, devices, tool }: DesiredStateRequest,
  readback: Readback,
  { mayCallUserOnly }: Actor,
) {
  const property = { tool: readback.tool, path: readback.path, property: propertyOf(readback) };
  const groups = await registry.desiredStates.countValues(devices, property, SAMPLE_MAX);
  const sets = new EligibilityCheck(registry.toolSets, callRules, { tool, arguments: args, mayCallUserOnly });
  const reads = new EligibilityCheck(registry.toolSets, callRules, {
    tool: readback.tool,
    arguments: {},
    mayCallUserOnly,
  });
  const hashes = [...new Set(groups.flatMap(({ toolSetHash }) => toolSetHash ?? []))];
  await Promise.all([sets.judge(hashes), reads.judge(hashes)]);
  const counts = { ...nothing };
  const sampleIds: string[] = [];
  for (const { toolSetHash, isKnown, value, devices: count, sample } of groups) {
    counts.targetCount += count;
    const isUnsupported =
      toolSetHash !== undefined && [sets, reads].some((each) => each.rejectionOf(toolSetHash) !== undefined);
    if (isUnsupported) counts.unsupportedCount += count;
    else if (toolSetHash === undefined || !isKnown) counts.unknownCount += count;
    else if (isSameValue(value, args[readback.argument], readback.tolerance ?? 0)) counts.inSyncCount += count;
    else {
      counts.changeCount += count;
      sampleIds.push(...sample.slice(0, SAMPLE_MAX - sampleIds.length));
    }
  }
  return { ...counts, sampleIds };
}

/** Enabled ones with equal priority and another value, on a common device at a common time. */
async function conflictsOf(
  { clock, registry, timeZone }: DesiredStateDeps,
  { arguments: args, devices, priority, window }: DesiredStateRequest,
  readback: Readback,
  id: string | undefined,
): Promise<readonly DesiredStateRow[]> {
  const equals = (await registry.desiredStateStore.withProperty(propertyOf(readback))).filter(
    (other) =>
      other.id !== id && other.priority === priority && windowsOverlap(other.window, window, timeZone, clock.now()),
  );
  const values = await Promise.all(equals.map((other) => wantedOf(registry, other)));
  const others = equals.filter(
    (_, index) => !isSameValue(values[index], args[readback.argument], readback.tolerance ?? 0),
  );
  const areMet = await Promise.all(
    others.map((other) => registry.desiredStates.haveCommonDevice(devices, other.devices)),
  );
  return others.filter((_, index) => areMet[index] === true);
}

/** A row shows masks in place of secrets. */
async function wantedOf(
  { desiredStateStore }: DesiredStateDeps['registry'],
  { arguments: shown, generation, id, readback, tool }: DesiredStateRow,
): Promise<unknown> {
  const stored = hasMaskedSecret(tool, shown) ? await desiredStateStore.argumentsOf(id, generation) : undefined;
  return (stored === undefined || stored === 'lost' ? shown : stored)[readback.argument];
}
