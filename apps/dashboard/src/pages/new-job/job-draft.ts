/** What the wizard gathers, what it begins with, and what is missing. Knows nothing of the page. */
import { viewerZone } from '../../parts/zone/time-zones';
import { type DailyHours, instantsOf } from '../../parts/zone/zoned-time';
import {
  conditionsOf,
  type DeviceConditions,
  type DeviceSearch,
  filterOf,
  withCondition,
} from '../devices/device-search';
import { type StepName, steps } from './job-steps';
import type { NewJobSearch } from './new-job-search';

/** Outcomes that a rule may count; the others are no failures. */
export const countedOutcomes = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN', 'EXPIRED'] as const;
export type CountedOutcome = (typeof countedOutcomes)[number];

export interface DraftWave {
  /** `percent` of all devices up to the end of this wave, or so many devices in it. */
  readonly unit: 'percent' | 'count';
  readonly size: number;
  /** Percent of the wave that must succeed before the next one opens. */
  readonly threshold: number;
  readonly soakSeconds: number;
  readonly gate: 'AUTO' | 'MANUAL';
}

/** Trips at `percent` of the decided devices, at `count` of them, or at whichever comes first. */
export interface DraftRule {
  readonly outcomes: readonly CountedOutcome[];
  readonly percent: number | undefined;
  readonly count: number | undefined;
  readonly minDecided: number | undefined;
  readonly scope: 'WAVE' | 'JOB';
  readonly action: 'PAUSE' | 'CANCEL';
}

type JobKind = 'tool' | 'firmware';
/** Which kinds of jobs a person may start. */
type JobRights = Readonly<Record<JobKind, boolean>>;

export interface JobDraft {
  readonly name: string;
  readonly kind: JobKind;
  readonly tool: string | undefined;
  /** Undefined until the form of the tool has begun, with the defaults of its schema. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  readonly isSound: boolean;
  readonly firmwareImageId: string | undefined;
  /** As the tool's policy says where it is not given. */
  readonly verification: 'NONE' | 'READBACK' | undefined;
  readonly skipIfSatisfied: boolean;
  readonly callTimeoutSeconds: number | undefined;
  readonly maxAttempts: number;
  /** Chosen one by one; else the filter holds. */
  readonly ids: readonly string[] | undefined;
  readonly devices: DeviceSearch;
  /** Without a condition the filter is the whole fleet, which has to be said. */
  readonly isWholeFleet: boolean;
  readonly offline: 'WAIT' | 'SKIP' | 'FAIL';
  readonly expiresInHours: number;
  /**
   * A local date and time as the input field has it; undefined means now, empty means not entered
   * yet.
   */
  readonly startAt: string | undefined;
  /** The IANA name of the zone of `startAt`. */
  readonly startZone: string;
  /** At which hours it may send. */
  readonly window: DailyHours | undefined;
  readonly maxInFlight: number;
  readonly perMinute: number | undefined;
  readonly priority: 1 | 2 | 3;
  readonly waves: readonly DraftWave[];
  readonly rules: readonly DraftRule[];
  /** Of the latest attempt to start it as it is now; undefined before the first one. */
  readonly startKey?: string | undefined;
}

export const canaryWaves: readonly DraftWave[] = [
  { unit: 'percent', size: 5, threshold: 95, soakSeconds: 60, gate: 'MANUAL' },
  { unit: 'percent', size: 25, threshold: 95, soakSeconds: 60, gate: 'AUTO' },
  { unit: 'percent', size: 100, threshold: 95, soakSeconds: 0, gate: 'AUTO' },
];

export const usualRule: DraftRule = {
  outcomes: ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'],
  percent: 20,
  count: undefined,
  minDecided: undefined,
  scope: 'JOB',
  action: 'PAUSE',
};

/** The default abort rules of the hub: one device in ten, or three that do not come back. */
const imageRules: readonly DraftRule[] = [
  { ...usualRule, outcomes: ['FAILED', 'VERIFY_FAILED', 'UNKNOWN'], percent: 10 },
  { ...usualRule, outcomes: ['UNKNOWN'], percent: undefined, count: 3, scope: 'WAVE' },
];

const usual = {
  tool: { waves: [], rules: [usualRule] },
  firmware: { waves: canaryWaves, rules: imageRules },
} as const satisfies Readonly<Record<JobKind, Pick<JobDraft, 'waves' | 'rules'>>>;
const mayBoth: JobRights = { tool: true, firmware: true };

/** Begins with a kind that the person may start, unless the address names a tool or an image. */
export function draftFrom({ devices = {}, ids, tool, firmwareImageId }: NewJobSearch, may = mayBoth): JobDraft {
  const isRollout = tool === undefined && may.firmware && !may.tool;
  const kind = firmwareImageId === undefined && !isRollout ? 'tool' : 'firmware';
  return {
    name: '',
    kind,
    tool,
    arguments: undefined,
    isSound: false,
    firmwareImageId,
    verification: undefined,
    skipIfSatisfied: false,
    callTimeoutSeconds: undefined,
    maxAttempts: 3,
    ids,
    devices: conditionsOf(devices),
    isWholeFleet: false,
    offline: 'WAIT',
    expiresInHours: 24,
    startAt: undefined,
    startZone: viewerZone(),
    window: undefined,
    maxInFlight: 200,
    perMinute: undefined,
    priority: 2,
    ...usual[kind],
  };
}

/** Another job after each change: the key of an attempt to start the former one does not count. */
export function changedDraft(draft: JobDraft, changed: Partial<JobDraft>): JobDraft {
  return { ...draft, startKey: undefined, ...changed };
}

/** The kinds of jobs that a person may start; the present one stays, so that nothing is hidden. */
export function kindsFor(present: JobKind, may: JobRights): readonly JobKind[] {
  return (['tool', 'firmware'] as const).filter((kind) => may[kind] || kind === present);
}

/** Waves and rules follow the kind until the operator edits them. */
export function ofKind(draft: JobDraft, kind: JobKind): Partial<JobDraft> {
  const { waves, rules } = usual[draft.kind];
  return {
    kind,
    ...(isSame(draft.waves, waves) && { waves: usual[kind].waves }),
    ...(isSame(draft.rules, rules) && { rules: usual[kind].rules }),
  };
}

/** A draft that was kept over a reload has copies. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function deviceFilterOf(draft: Pick<JobDraft, 'ids' | 'devices'>) {
  return filterOf(chosenConditions(draft)) ?? { all: true };
}

/** Empty for the whole fleet. Devices chosen one by one may have the condition of a tool, too. */
export function chosenConditions({ ids, devices }: Pick<JobDraft, 'ids' | 'devices'>): DeviceConditions {
  if (ids === undefined) return devices;
  return { ids, ...(devices.hasTool !== undefined && { hasTool: devices.hasTool }) };
}

/** Adds the condition that devices have the tool of the job. */
export function onlyWithTool({ tool, ids, devices }: JobDraft): Partial<JobDraft> {
  if (tool === undefined || devices.hasTool === tool) return {};
  // A filter names one tool, so another one is added as what must not be missing.
  const added =
    devices.hasTool === undefined || ids !== undefined
      ? { hasTool: tool }
      : withCondition(devices, { not: { hasTool: tool } }, 'not');
  return { devices: { ...devices, ...added } };
}

/** Another tool for the job. The condition that devices have the former one goes with it. */
export function withTool({ tool: former, devices }: JobDraft, tool: string | undefined): Partial<JobDraft> {
  const { hasTool, ...others } = devices;
  return {
    tool,
    arguments: undefined,
    isSound: false,
    verification: undefined,
    // The other tool may have no value to read, and the form then hides this.
    skipIfSatisfied: false,
    ...(hasTool !== undefined && hasTool === former && { devices: others }),
  };
}

export function hasWhom({ ids, devices, isWholeFleet }: Pick<JobDraft, 'ids' | 'devices' | 'isWholeFleet'>): boolean {
  return ids !== undefined || filterOf(devices) !== undefined || isWholeFleet;
}

type Missing = 'tool' | 'arguments' | 'image' | 'devices' | 'outcomes' | 'bound' | 'start' | 'skippedStart';

/** The first thing that a step lacks; undefined where it is complete. */
export function missingIn(step: StepName, draft: JobDraft): Missing | undefined {
  switch (step) {
    case 'what':
      if (draft.kind === 'firmware') return draft.firmwareImageId === undefined ? 'image' : undefined;
      if (draft.tool === undefined) return 'tool';
      return draft.isSound ? undefined : 'arguments';
    case 'whom':
      return hasWhom(draft) ? undefined : 'devices';
    case 'pace':
      return missingStart(draft);
    case 'stop':
      if (draft.rules.some(({ outcomes }) => outcomes.length === 0)) return 'outcomes';
      return draft.rules.some(({ percent, count }) => percent === undefined && count === undefined)
        ? 'bound'
        : undefined;
    case 'check':
      return undefined;
  }
}

/** The step that an address may show: it, or the first one before it that lacks something. */
export function reachableStep(wanted: StepName, draft: JobDraft): StepName {
  const before = steps.slice(0, steps.indexOf(wanted));
  return before.find((name) => missingIn(name, draft) !== undefined) ?? wanted;
}

/** A local time that the clocks of the zone skip is not a start. */
function missingStart({ startAt, startZone }: JobDraft): Missing | undefined {
  if (startAt === undefined) return undefined;
  if (startAt === '') return 'start';
  return instantsOf(startAt, startZone).length === 0 ? 'skippedStart' : undefined;
}
