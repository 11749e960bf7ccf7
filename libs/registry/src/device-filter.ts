/**
 * The filter that selects devices, shared by lists, jobs and subscriptions.
 * devices/device-condition.ts compiles it to SQL.
 */
import type { TargetOutcome } from '@flotilla/jobs';
import type { DialectName, JobId, TransportKind } from '@flotilla/mcp';

/** The targets of a job with one of these outcomes. */
export interface FormerTargets {
  readonly jobId: JobId;
  readonly outcomes: readonly TargetOutcome[];
  /** Without those that have one of these error codes. */
  readonly exceptCodes?: readonly string[];
  /** Only those that a viewer with the access scope around this filter sees in jobs of others. */
  readonly onlySeen?: boolean;
}

/** Devices that run the image of the job and ran this version before. */
export interface FormerVersion {
  readonly jobId: string;
  readonly version: string;
  /** The image to go back to. */
  readonly imageId: string;
  /** As in `FormerTargets`. */
  readonly onlySeen?: boolean;
}

export interface DeviceFilter {
  /**
   * Selects the whole fleet. For changes and calls, a filter without a condition matches no device.
   */
  readonly all?: boolean;
  readonly ids?: readonly string[];
  /** Devices that are in this group now. */
  readonly groupId?: string;
  /** Devices with all of these tags. */
  readonly tags?: readonly string[];
  readonly dialect?: DialectName;
  readonly model?: string;
  readonly firmwareVersion?: string;
  /** Compares dotted numbers, as devices do. A device without a version does not match. */
  readonly firmwareBefore?: string;
  readonly presence?: Presence;
  readonly transport?: TransportKind;
  readonly hasTool?: string;
  readonly toolsStale?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeenBefore?: number;
  /** Whether an applicable desired state differs. For lists only. */
  readonly outOfSync?: boolean;
  /** Part of the id or name; ignores case, has no wildcards. */
  readonly search?: string;
  /** Devices that were targets of this job and ended so. Set by the hub to run a job again. */
  readonly targetsOf?: FormerTargets;
  /** Set by the hub to revert a roll-out, not by callers. */
  readonly revertOf?: FormerVersion;
  /**
   * Set by the hub: the access scope of the caller. Matches no device if it names a deleted group.
   */
  readonly within?: DeviceFilter;
  readonly any?: readonly DeviceFilter[];
  /** The full complement. */
  readonly not?: DeviceFilter;
}

/** A filter without group ids. Its meaning does not change when a group changes. */
export interface ResolvedFilter extends Omit<DeviceFilter, 'groupId' | 'within' | 'any' | 'not'> {
  readonly groupId?: never;
  /** The filter of a named group, or the access scope of the caller. */
  readonly within?: ResolvedFilter;
  readonly any?: readonly ResolvedFilter[];
  readonly not?: ResolvedFilter;
}

export type Presence = 'ONLINE' | 'OFFLINE';
export type Reachability = 'ALWAYS' | 'IN_CONVERSATION';

/** Limits `filter` to the access scope `within`. */
export function scopedFilter(filter: DeviceFilter, within: DeviceFilter | undefined): DeviceFilter;
export function scopedFilter(
  filter: DeviceFilter | undefined,
  within: DeviceFilter | undefined,
): DeviceFilter | undefined;
export function scopedFilter(
  filter: DeviceFilter | undefined,
  within: DeviceFilter | undefined,
): DeviceFilter | undefined {
  if (within === undefined) return filter;
  // `filter` goes into `any`: an empty filter must still match no device where something is
  // changed.
  return filter === undefined ? { within } : { within, any: [filter] };
}

/** The filter that `scopedFilter` limited, as its client gave it. */
export function givenFilter(filter: DeviceFilter): DeviceFilter {
  const [given] = filter.within === undefined ? [] : (filter.any ?? []);
  return given ?? filter;
}

/** Whether it selects fewer devices than `givenFilter` says. */
export function isScopedFilter({ within }: DeviceFilter): boolean {
  return within !== undefined;
}
