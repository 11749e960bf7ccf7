/**
 * Which events the Events page shows, as its address carries it. Without a choice these are all but
 * samples, which come by the second.
 */
import type { EventFilter } from './generated/events';

interface EventSearch {
  /** Types, or prefixes such as `device.*`. */
  readonly types?: readonly string[];
  readonly except?: readonly string[];
  readonly deviceId?: string;
}

type TypeChoice = Required<Pick<EventSearch, 'types' | 'except'>>;

const samples = 'device.samples';

/** Choices that people make often. Empty lists: no condition. */
export const presets = {
  usual: { types: [], except: [samples] },
  problems: {
    types: [
      'device.flapping',
      'device.throttled',
      'device.large_messages_lost',
      'device.auth_refused',
      'device.restarted_unexpectedly',
      'measurements.limit_reached',
      'call.answered_late',
      'enrolment.refused',
      'enrolment.second_client_id',
      'firmware.corrupt',
      'firmware.loop',
      'job.aborted',
      'job.expired',
      'job.stopped_by_health_gate',
      'recurring_job.failed',
      'recurring_job.paused',
      'desired_state.paused',
      'alert.fired',
      'webhook.paused',
      'voice.server_unwell',
    ],
    except: [],
  },
  security: {
    types: [
      'device.auth_refused',
      'device.registered',
      'device.removed',
      'enrolment.*',
      'enrolment_link.*',
      'credential.*',
      'firmware.uploaded',
      'firmware.signed',
      'firmware.published',
      'firmware.withdrawn',
      'firmware.deleted',
      'job.approval_required',
      'job.approved',
      'job.denied',
    ],
    except: [],
  },
  samples: { types: [samples], except: [] },
  all: { types: [], except: [] },
} as const satisfies Readonly<Record<string, TypeChoice>>;

export type EventPreset = keyof typeof presets;
export const presetNames = Object.keys(presets) as readonly EventPreset[];

export function parseEventSearch({ types, except, deviceId }: Readonly<Record<string, unknown>>): EventSearch {
  const wanted = textsIn(types);
  return {
    ...(wanted.length > 0 && { types: wanted }),
    // An empty list says that nothing is left out, samples included.
    ...(except !== undefined && { except: textsIn(except) }),
    // The router reads a text such as `12` as a number.
    ...((typeof deviceId === 'string' || typeof deviceId === 'number') && { deviceId: String(deviceId) }),
  };
}

function textsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string' && text !== '');
}

export function typesOf({ types = [], except }: EventSearch): TypeChoice {
  return { types, except: except ?? (types.length > 0 ? [] : presets.usual.except) };
}

export function filterOf(search: EventSearch): EventFilter {
  const { types, except } = typesOf(search);
  return {
    ...(types.length > 0 && { types }),
    ...(except.length > 0 && { exceptTypes: except }),
    ...(search.deviceId !== undefined && { deviceId: search.deviceId }),
  };
}

/** The search with these types; what goes without saying is left out of the address. */
export function withTypes({ deviceId }: EventSearch, { types, except }: TypeChoice): EventSearch {
  const usual = typesOf({ types }).except;
  return {
    ...(types.length > 0 && { types }),
    ...(!isSame(except, usual) && { except }),
    ...(deviceId !== undefined && { deviceId }),
  };
}

/** Undefined for a choice without a name. */
export function presetOf(search: EventSearch): EventPreset | undefined {
  const { types, except } = typesOf(search);
  return presetNames.find((name) => isSame(presets[name].types, types) && isSame(presets[name].except, except));
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((type) => other.includes(type));
}
