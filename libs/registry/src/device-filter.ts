/** Which devices: the one filter that lists, jobs and subscriptions share. Compiled to indexed SQL here; nobody else writes conditions. */
import type { TargetOutcome } from '@flotilla/jobs';
import type { JobId } from '@flotilla/mcp';

export interface DeviceFilter {
  /** The whole fleet, said explicitly. A filter without any condition matches nothing where something is changed or called. */
  readonly all?: boolean;
  readonly ids?: readonly string[];
  /** Is in this group now. */
  readonly groupId?: string;
  /** Carries all of these. */
  readonly tags?: readonly string[];
  readonly dialect?: Dialect;
  readonly model?: string;
  readonly firmwareVersion?: string;
  /** Dotted-number comparison, as devices compare; a device without a version is in no firmwareBefore. */
  readonly firmwareBefore?: string;
  readonly presence?: Presence;
  readonly transport?: TransportKind;
  readonly hasTool?: string;
  readonly toolsStale?: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeenBefore?: number;
  /** Part of id or name, without regard to case, no wildcards. */
  readonly search?: string;
  /** Was a target of this job and ended in one of these ways. */
  readonly targetsOf?: { readonly jobId: JobId; readonly outcomes: readonly TargetOutcome[] };
  /** Devices that run the image which this job brought them, and ran this version before. The hub's own, for the way back. */
  readonly revertOf?: { readonly jobId: string; readonly version: string; readonly imageId: string };
  /** Besides everything else, only among these: what narrows whoever asks. The hub's own; where it names a group that is gone, there are none. */
  readonly within?: DeviceFilter;
  readonly any?: readonly DeviceFilter[];
  /** The full complement. */
  readonly not?: DeviceFilter;
}

/** A filter that names no group: it can be compiled as it stands, and means the same whatever becomes of groups. */
export interface GroundFilter extends Omit<DeviceFilter, 'groupId' | 'within' | 'any' | 'not'> {
  readonly groupId?: never;
  /** What a group that was named stands for, or what narrows whoever asked. */
  readonly within?: GroundFilter;
  readonly any?: readonly GroundFilter[];
  readonly not?: GroundFilter;
}

export type Dialect = 'XIAOZHI' | 'MCPU';
export type Presence = 'ONLINE' | 'OFFLINE';
export type TransportKind = 'MQTT' | 'WEBSOCKET' | 'TCP';
export type Reachability = 'ALWAYS' | 'IN_CONVERSATION';

/** `filter` as somebody means it for whom there are only the devices of `within`. */
export function narrowed(filter: DeviceFilter, within: DeviceFilter | undefined): DeviceFilter;
export function narrowed(filter: DeviceFilter | undefined, within: DeviceFilter | undefined): DeviceFilter | undefined;
export function narrowed(filter: DeviceFilter | undefined, within: DeviceFilter | undefined): DeviceFilter | undefined {
  if (within === undefined) return filter;
  // Not beside the conditions of `filter`: one that says nothing must go on meaning no device where something is changed.
  return filter === undefined ? { within } : { within, any: [filter] };
}
