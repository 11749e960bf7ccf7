/** What the wizard gathers, and the input that is made of it. Knows nothing of the page. */
import { conditionsOf, type DeviceSearch, filterOf } from '../devices/device-search';
import type { CreateJobInput } from './generated/new-job';
import type { NewJobSearch } from './new-job-search';

export const waveOutcomes = ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'] as const;

export interface DraftWave {
  /** Of all devices, up to the end of this wave. */
  readonly percent: number;
  /** Percent of the wave that must succeed before the next one opens. */
  readonly threshold: number;
  readonly soakSeconds: number;
  readonly gate: 'AUTO' | 'MANUAL';
}

export interface JobDraft {
  readonly name: string;
  readonly kind: 'tool' | 'firmware';
  readonly tool: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly isSound: boolean;
  readonly firmwareImageId: string | undefined;
  /** Chosen one by one; else the filter holds. */
  readonly ids: readonly string[] | undefined;
  readonly devices: DeviceSearch;
  /** Without a condition the filter is the whole fleet, which has to be said. */
  readonly isWholeFleet: boolean;
  readonly maxInFlight: number;
  readonly perMinute: number | undefined;
  readonly waves: readonly DraftWave[];
  readonly offline: 'WAIT' | 'SKIP' | 'FAIL';
  readonly expiresInHours: number;
  readonly maxAttempts: number;
  readonly skipIfSatisfied: boolean;
  readonly abort: DraftAbort | undefined;
}

export interface DraftAbort {
  readonly percent: number;
  readonly minDecided: number | undefined;
  readonly action: 'PAUSE' | 'CANCEL';
}

export const canaryWaves: readonly DraftWave[] = [
  { percent: 5, threshold: 95, soakSeconds: 60, gate: 'MANUAL' },
  { percent: 25, threshold: 95, soakSeconds: 60, gate: 'AUTO' },
  { percent: 100, threshold: 95, soakSeconds: 0, gate: 'AUTO' },
];

export function draftFrom({ devices = {}, ids, tool, firmwareImageId }: NewJobSearch): JobDraft {
  return {
    name: '',
    kind: firmwareImageId === undefined ? 'tool' : 'firmware',
    ...{ tool, arguments: {}, isSound: false, firmwareImageId, ids, devices: conditionsOf(devices) },
    isWholeFleet: false,
    ...{ maxInFlight: 200, perMinute: undefined, waves: firmwareImageId === undefined ? [] : canaryWaves },
    ...{ offline: 'WAIT', expiresInHours: 24, maxAttempts: 3, skipIfSatisfied: false },
    abort: { percent: 20, minDecided: undefined, action: 'PAUSE' },
  };
}

export function hasWhat({ kind, tool, isSound, firmwareImageId }: JobDraft): boolean {
  return kind === 'tool' ? tool !== undefined && isSound : firmwareImageId !== undefined;
}

export function hasWhom({ ids, devices, isWholeFleet }: JobDraft): boolean {
  return ids !== undefined || filterOf(devices) !== undefined || isWholeFleet;
}

export function deviceFilterOf({ ids, devices }: Pick<JobDraft, 'ids' | 'devices'>) {
  return ids === undefined ? (filterOf(devices) ?? { all: true }) : { ids: [...ids] };
}

export function inputOf(draft: JobDraft): CreateJobInput {
  const { name, kind, abort, perMinute, waves } = draft;
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(kind === 'tool' ? { tool: draft.tool ?? '', arguments: draft.arguments } : { firmwareImageId: draft.firmwareImageId ?? '' }),
    devices: deviceFilterOf(draft),
    ...{ offline: draft.offline, expiresInSeconds: Math.round(draft.expiresInHours * 3_600) },
    ...{ maxInFlight: draft.maxInFlight, maxAttempts: draft.maxAttempts, skipIfSatisfied: draft.skipIfSatisfied },
    ...(perMinute !== undefined && { perMinute }),
    ...(waves.length > 0 && {
      waves: waves.map(({ percent, threshold, soakSeconds, gate }) => ({ percent, successThreshold: threshold / 100, soakSeconds, gate })),
    }),
    ...(abort && {
      abort: [
        {
          ...{ outcomes: [...waveOutcomes], ratio: abort.percent / 100, action: abort.action },
          ...(abort.minDecided !== undefined && { minDecided: abort.minDecided }),
        },
      ],
    }),
  };
}
