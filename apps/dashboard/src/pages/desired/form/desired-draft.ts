/** What the form of a desired state gathers, what it begins with, and the input that it becomes. */
import type { DailyHours } from '../../../parts/zone/zoned-time';
import { canaryWaves, usualRule } from '../../new-job/job-draft';
import { ruleOf, waveOf } from '../../new-job/job-input';
import { type DeviceConditions, filterOf } from '../../devices/device-search';
import type { DesiredSeenFragment, DesiredStateInput } from '../generated/desired';
import type { NewDesiredSearch } from './new-desired-search';
import { conditionsIn } from '../../devices/stored-filter';

/** How edits go out: at once, in the usual waves, or as the stored desired state says. */
export type Rollout = 'once' | 'waves' | 'kept';

export interface DesiredDraft {
  readonly name: string;
  readonly tool: string | undefined;
  /** Undefined until the form of the tool has begun, with the defaults of its schema. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  readonly isSound: boolean;
  readonly devices: DeviceConditions;
  readonly isWholeFleet: boolean;
  /** A stored filter that the filter bar cannot show. It stays until the operator replaces it. */
  readonly keptFilter: unknown;
  readonly mode: 'ENFORCE' | 'REPORT';
  readonly onDrift: 'REVERT' | 'HOLD' | 'ACCEPT';
  readonly holdMinutes: number;
  readonly priority: number;
  /** An empty zone is that of each device. */
  readonly window: DailyHours | undefined;
  readonly rollout: Rollout;
  readonly keptRollout: Pick<DesiredStateInput, 'waves' | 'abort'>;
  readonly maxInFlight: number;
  readonly perMinute: number | undefined;
  /** Null while the form does not change it: other people may. */
  readonly enabled: boolean | null;
}

export function draftFrom({ tool, arguments: given, devices = {} }: NewDesiredSearch): DesiredDraft {
  return {
    name: '',
    tool,
    arguments: given,
    isSound: false,
    devices: filterOf(devices) === undefined ? {} : devices,
    isWholeFleet: false,
    keptFilter: undefined,
    mode: 'ENFORCE',
    onDrift: 'HOLD',
    holdMinutes: 30,
    priority: 0,
    window: undefined,
    rollout: 'once',
    keptRollout: {},
    maxInFlight: 200,
    perMinute: undefined,
    enabled: null,
  };
}

export function draftOf(state: DesiredSeenFragment): DesiredDraft {
  const { name, tool, mode, onDrift, priority, maxInFlight, waves, abort } = state;
  const conditions = conditionsIn(state.devices);
  return {
    name,
    tool,
    mode,
    onDrift,
    priority,
    maxInFlight,
    arguments: state.arguments as DesiredDraft['arguments'],
    isSound: true,
    devices: conditions ?? {},
    keptFilter: conditions === undefined ? state.devices : undefined,
    isWholeFleet: conditions !== undefined && filterOf(conditions) === undefined,
    holdMinutes: state.holdSeconds / 60,
    window: state.window === null ? undefined : hoursOf(state.window),
    rollout: waves === null && abort === null ? 'once' : 'kept',
    keptRollout: { waves: waves as DesiredStateInput['waves'], abort: abort as DesiredStateInput['abort'] },
    perMinute: state.perMinute ?? undefined,
    // What the hub paused applies again once it is saved.
    enabled: state.pausedReason === null ? null : true,
  };
}

function hoursOf({ from, to, zone, days }: NonNullable<DesiredSeenFragment['window']>): DailyHours {
  return { from, to, zone: zone ?? '', days: days ?? [] };
}

export function inputOf(draft: DesiredDraft): DesiredStateInput {
  const { name, tool, mode, onDrift, priority, window, maxInFlight, perMinute, enabled } = draft;
  return {
    name: name.trim(),
    tool: tool ?? '',
    arguments: draft.arguments ?? {},
    mode,
    onDrift,
    priority,
    enabled,
    devices: (draft.keptFilter as DesiredStateInput['devices'] | undefined) ?? filterOf(draft.devices) ?? { all: true },
    holdSeconds: Math.round(draft.holdMinutes * 60),
    window: window === undefined ? null : windowOf(window),
    ...rolloutOf(draft),
    maxInFlight,
    perMinute: perMinute ?? null,
  };
}

function windowOf({ from, to, zone, days }: DailyHours) {
  return { from, to, zone: zone || null, days: days.length === 0 ? null : [...days].sort() };
}

function rolloutOf({ rollout, keptRollout }: DesiredDraft): Pick<DesiredStateInput, 'waves' | 'abort'> {
  if (rollout === 'once') return { waves: null, abort: null };
  return rollout === 'kept' ? keptRollout : { waves: canaryWaves.map(waveOf), abort: [ruleOf(usualRule)] };
}

/** Whether the hub can be asked for a preview. */
export function isComplete({ tool, isSound, devices, isWholeFleet, keptFilter }: DesiredDraft): boolean {
  return tool !== undefined && isSound && (isWholeFleet || keptFilter !== undefined || filterOf(devices) !== undefined);
}
