/**
 * Parses a request for a job. Null means the same as leaving out; the fleet service checks limits.
 */
import type { JobRequest, RolloutRequest } from '@flotilla/fleet';
import { observeSecondsDefault } from '@flotilla/jobs';
import type { AbortRule, HealthGate, WaveSpec } from '@flotilla/jobs';
import { ApiError } from '../errors/api-error.js';
import { parseDeviceFilter, withoutNulls } from '../devices/device-filter-input.js';
import type { AbortRuleInput, CreateJobInput, HealthGateInput, WaveInput } from '../generated/schema-types.js';
import { jsonObject } from '../scalars/json-object.js';

export function parseJobRequest(input: CreateJobInput): JobRequest | RolloutRequest {
  const { tool, arguments: given, firmwareImageId, devices, waves, abort, window, health, ...options } = input;
  if (firmwareImageId && (tool || given))
    throw new ApiError(
      'BAD_USER_INPUT',
      'Either "input.tool" with "input.arguments" or "input.firmwareImageId": the image says which tool.',
    );
  if (health && !firmwareImageId)
    throw new ApiError('BAD_USER_INPUT', '"input.health" is for firmware roll-outs. Give "input.firmwareImageId".');
  const request = {
    ...withoutNulls(options),
    ...(health ? { health: healthGateOf(health) } : {}),
    ...(waves ? { waves: waves.map(waveOf) } : {}),
    ...(abort ? { abort: abort.map(abortRuleOf) } : {}),
    ...(window
      ? {
          window: {
            from: window.from,
            to: window.to,
            zone: window.zone,
            ...(window.days ? { days: window.days } : {}),
          },
        }
      : {}),
    devices: parseDeviceFilter(devices) ?? {},
  };
  if (firmwareImageId) return { ...request, firmwareImageId };
  if (!tool)
    throw new ApiError(
      'BAD_USER_INPUT',
      'Give "input.tool", the name of the tool to call, or "input.firmwareImageId".',
    );
  return { ...request, tool, arguments: jsonObject(given, 'input.arguments') };
}

/** The fleet service refuses a wave with both or neither of `percent` and `count`. */
export function waveOf(wave: WaveInput): WaveSpec {
  return { successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO', ...withoutNulls(wave) } as WaveSpec;
}

function healthGateOf(health: HealthGateInput): HealthGate {
  return { observeSeconds: observeSecondsDefault, action: 'PAUSE', ...withoutNulls(health) };
}

/** Outcomes that no rule counts are refused by the service. */
export function abortRuleOf(rule: AbortRuleInput): AbortRule {
  return { scope: 'JOB', action: 'PAUSE', ...withoutNulls(rule), outcomes: rule.outcomes as AbortRule['outcomes'] };
}
