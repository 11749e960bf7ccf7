/** Creates, replaces and deletes the rules that say which numbers are recorded. */
import type { Bus } from '@flotilla/bus';
import type { RecordingRuleRow, Registry } from '@flotilla/registry';
import { parsePattern } from '@flotilla/signals';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { newId } from '../new-id.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

interface RecordingRuleDeps {
  readonly registry: Pick<Registry, 'recordingRules' | 'deviceGroups'>;
  readonly bus: { readonly feed: Pick<Bus['feed'], 'publish'> };
  readonly clock: { now(): number };
}

export interface RecordingRuleRequest extends Omit<RecordingRuleRow, 'id' | 'savedBy' | 'savedAt'> {
  /** The rule to replace; undefined for a new one. */
  readonly id: string | undefined;
}

type SavedRecordingRule = { readonly rule: RecordingRuleRow } | { readonly refusal: Refusal };

/** Rules of one hub: each report is compared with all. */
const rulesMax = 200;
const minIntervalMax = 86_400;

/** Applies at once, in every process. */
export async function setRecordingRule(
  { registry, bus, clock }: RecordingRuleDeps,
  request: RecordingRuleRequest,
  actor: Actor,
): Promise<SavedRecordingRule> {
  const refusal = refuseRule(request) ?? (await refuseUnknownGroups(registry, request.devices, ['input', 'devices']));
  if (refusal !== undefined) return { refusal };
  const at = clock.now();
  const { id = newId(at), ...rule } = request;
  const change = { at, by: sourceOf(actor), isNew: request.id === undefined, rulesMax };
  const answer = await registry.recordingRules.save({ ...rule, id, savedBy: actor.name }, change);
  if (answer.kind === 'NOT_FOUND') return { refusal: noSuchRule(id, ['input', 'id']) };
  if (answer.kind === 'FULL')
    return { refusal: refuse('LIMIT_EXCEEDED', [], `There are ${rulesMax} recording rules. Delete one first.`) };
  bus.feed.publish('recordingRules', { ruleId: id });
  return { rule: answer.rule };
}

/** What was recorded stays until it is too old. */
export async function deleteRecordingRule(
  { registry, bus, clock }: RecordingRuleDeps,
  id: string,
  actor: Actor,
): Promise<{ readonly refusal?: Refusal }> {
  const isRemoved = await registry.recordingRules.remove(id, { at: clock.now(), by: sourceOf(actor) });
  if (!isRemoved) return { refusal: noSuchRule(id, ['id']) };
  bus.feed.publish('recordingRules', { ruleId: id });
  return {};
}

function refuseRule({ path, devices, deadband, minIntervalSeconds }: RecordingRuleRequest): Refusal | undefined {
  const pattern = parsePattern(path);
  if ('problem' in pattern) return refuse('INVALID', ['input', 'path'], pattern.problem);
  if (!(deadband >= 0 && deadband <= 1e30))
    return refuse('INVALID', ['input', 'deadband'], 'A deadband is 0 or more, in the unit of the value.');
  if (!Number.isInteger(minIntervalSeconds) || minIntervalSeconds < 0 || minIntervalSeconds > minIntervalMax)
    return refuse('INVALID', ['input', 'minIntervalSeconds'], `A minimum interval is 0 to ${minIntervalMax} seconds.`);
  return refuseFilter(devices, ['input', 'devices']);
}

function noSuchRule(id: string, path: readonly string[]): Refusal {
  return refuse('NOT_FOUND', path, `There is no recording rule "${id.slice(0, 100)}".`);
}
