/** The API's input out of the draft, in the API's units. */
import { instantsOf } from '../../parts/zone/zoned-time';
import type { CreateJobInput } from './generated/new-job';
import { deviceFilterOf, type DraftRule, type DraftWave, type JobDraft } from './job-draft';

export function inputOf(draft: JobDraft): CreateJobInput {
  const { name, window } = draft;
  const startAt = draft.startAt === undefined ? undefined : instantsOf(draft.startAt, draft.startZone)[0];
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...whatOf(draft),
    devices: deviceFilterOf(draft),
    offline: draft.offline,
    expiresInSeconds: Math.round(draft.expiresInHours * 3_600),
    maxInFlight: draft.maxInFlight,
    priority: draft.priority,
    ...(draft.perMinute !== undefined && { perMinute: draft.perMinute }),
    ...(startAt !== undefined && { startAt: new Date(startAt).toISOString() }),
    ...(window && { window: { ...window, days: window.days.length === 0 ? null : [...window.days].sort() } }),
    ...(draft.waves.length > 0 && { waves: draft.waves.map(waveOf) }),
    // An empty list is sent too; otherwise the hub would add its own rules for disruptive tools.
    abort: draft.rules.map(ruleOf),
  };
}

/** A roll-out shows no terms of calls, so what was set for a tool before is not sent. */
function whatOf(draft: JobDraft): Partial<CreateJobInput> {
  if (draft.kind === 'firmware') return { firmwareImageId: draft.firmwareImageId ?? '' };
  const { tool, arguments: given, verification, skipIfSatisfied, maxAttempts, callTimeoutSeconds } = draft;
  return {
    tool: tool ?? '',
    arguments: given ?? {},
    skipIfSatisfied,
    maxAttempts,
    ...(verification && { verification }),
    ...(callTimeoutSeconds !== undefined && { callTimeoutMs: Math.round(callTimeoutSeconds * 1_000) }),
  };
}

export function waveOf({ unit, size, threshold, soakSeconds, gate }: DraftWave) {
  return {
    ...(unit === 'percent' ? { percent: size } : { count: size }),
    successThreshold: threshold / 100,
    soakSeconds,
    gate,
  };
}

export function ruleOf({ outcomes, percent, count, minDecided, scope, action }: DraftRule) {
  return {
    outcomes: [...outcomes],
    scope,
    action,
    ...(percent !== undefined && { ratio: percent / 100 }),
    ...(count !== undefined && { count }),
    ...(minDecided !== undefined && { minDecided }),
  };
}
