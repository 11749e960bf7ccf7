/** Desired states as callers of the stores see them. Times are ms since the Unix epoch. */
import type { ComplianceState, DesiredStateMode, DesiredWindow, DriftAction, Entry } from '@flotilla/desired-state';
import type { AbortRule, Readback, WaveSpec } from '@flotilla/jobs';
import type { DeviceId } from '@flotilla/mcp';
import type { DeviceFilter } from '../device-filter.js';

/** The part that the owner decides. */
export interface DesiredStatePlan {
  readonly name: string;
  readonly devices: DeviceFilter;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly mode: DesiredStateMode;
  readonly onDrift: DriftAction;
  readonly holdSeconds: number;
  readonly priority: number;
  readonly window: DesiredWindow | undefined;
  /** How an edit is rolled out; without waves and rules it goes out at once. */
  readonly waves: readonly WaveSpec[] | undefined;
  readonly abort: readonly AbortRule[] | undefined;
  readonly maxInFlight: number;
  readonly perMinute: number | undefined;
  readonly enabled: boolean;
}

/** What each generation keeps. */
export type StoredPlan = Omit<DesiredStatePlan, 'name' | 'enabled'>;

export interface StoredGeneration {
  readonly plan: StoredPlan;
  readonly readback: Readback;
}

/** The arguments of one generation as they are sent. */
export type GenerationArguments = DesiredStatePlan['arguments'];

/** Secrets in the arguments are masked. */
export interface DesiredStateRow extends DesiredStatePlan {
  readonly id: string;
  readonly generation: number;
  /** The newest generation that applies to all devices, also to new ones. */
  readonly settledGeneration: number;
  readonly readback: Readback;
  /** What it sets: the tool and the path of the readback. */
  readonly property: string;
  /** Why the hub disabled it; undefined if a person did, and while it is enabled. */
  readonly pausedReason: string | undefined;
  readonly rolloutJobId: string | undefined;
  readonly editedAt: number;
  readonly t50Ms: number | undefined;
  readonly t95Ms: number | undefined;
  readonly t99Ms: number | undefined;
  readonly createdBy: string;
  /** `principalRef` of the creator, who sees it with a scoped key. */
  readonly createdById: string;
  /** `principalRef` of who saved it last: its calls have their rights. */
  readonly savedById: string;
  /** `principalRef` of who entered its secret arguments, who may send them to other devices. */
  readonly secretsById: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The row from which a job was made. */
export type RolloutStart = Pick<DesiredStateRow, 'id' | 'generation' | 'editedAt' | 'rolloutJobId'>;

/** A version of the plan, saved by `savedById`, with the readback of the tool policy. */
export interface SavedDesiredState extends Omit<DesiredStatePlan, 'enabled'> {
  readonly id: string;
  /** Undefined in an edit that neither enables nor disables it. */
  readonly enabled: boolean | undefined;
  readonly readback: Readback;
  readonly savedById: string;
  readonly secretsById: string;
}

export interface NewDesiredState extends SavedDesiredState {
  readonly enabled: boolean;
  readonly createdBy: string;
  readonly idempotencyKey: string;
  readonly requestHash: string;
}

/** The result of a change. Only `saved` and `repeat` have a row; only `saved` changed something. */
export type DesiredStateAnswer =
  | { readonly kind: 'repeat'; readonly state: DesiredStateRow }
  /** `formerJobId`: the roll-out that the row had until the change. */
  | { readonly kind: 'saved'; readonly state: DesiredStateRow; readonly formerJobId?: string | undefined }
  /** CONFLICT: the key was used for another request. OTHER_GENERATION: it was edited meanwhile. */
  | { readonly kind: 'NOT_FOUND' | 'NAME_TAKEN' | 'FULL' | 'CONFLICT' | 'OTHER_GENERATION' | 'PAUSED' };

/** One generation: what devices receive that a roll-out has not reached. */
export interface DesiredStateEditRow {
  readonly generation: number;
  readonly at: number;
  readonly by: string;
  readonly plan: StoredPlan;
  readonly readback: Readback;
}

/** A desired state on one device. */
export interface DesiredTargetRow extends Entry {
  readonly desiredStateId: string;
  readonly deviceId: DeviceId;
}

/** Devices in each state. */
export type StateCounts = ReadonlyMap<ComplianceState, number>;

export interface DesiredStateSummaryRow {
  readonly counts: StateCounts;
  /** Since when the longest of DRIFTED and HELD is so. */
  readonly oldestDriftAt: number | undefined;
}

/** The property that a readback reads. Desired states with the same one may conflict. */
export function propertyOf({ tool, path }: Pick<Readback, 'tool' | 'path'>): string {
  return `${tool} ${path}`;
}
