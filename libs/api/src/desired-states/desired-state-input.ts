/** Parses the input of a desired state, which libs/fleet checks. Null is the same as left out. */
import type { DesiredStateRequest } from '@flotilla/fleet';
import { parseDeviceFilter } from '../devices/device-filter-input.js';
import type { DesiredStateInput, DesiredStateWindowInput } from '../generated/schema-types.js';
import { abortRuleOf, waveOf } from '../jobs/job-request-input.js';
import { jsonObject } from '../scalars/json-object.js';

export function parseDesiredState(input: DesiredStateInput): DesiredStateRequest {
  const { name, tool, mode, onDrift, holdSeconds, priority, window, waves, abort } = input;
  return {
    name,
    tool,
    devices: parseDeviceFilter(input.devices) ?? {},
    arguments: jsonObject(input.arguments, 'input.arguments'),
    mode: mode ?? 'ENFORCE',
    onDrift: onDrift ?? 'HOLD',
    holdSeconds: holdSeconds ?? 1_800,
    priority: priority ?? 0,
    window: window ? windowOf(window) : undefined,
    waves: waves && waves.length > 0 ? waves.map(waveOf) : undefined,
    abort: abort && abort.length > 0 ? abort.map(abortRuleOf) : undefined,
    maxInFlight: input.maxInFlight ?? 200,
    perMinute: input.perMinute ?? undefined,
    enabled: input.enabled ?? undefined,
  };
}

function windowOf({ from, to, zone, days }: DesiredStateWindowInput): DesiredStateRequest['window'] {
  return { from, to, ...(zone && { zone }), ...(days && { days }) };
}
