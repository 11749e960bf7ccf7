/** Devices as stores return them, and as SQL selects them. */
import type { DeviceId, DialectName, ToolSetHash, TransportKind } from '@flotilla/mcp';
import type { Presence, Reachability } from '../device-filter.js';
import { IS_ONLINE, SEEN_AT } from './device-condition.js';

/** A device as lists and pages show it. Times are ms since the Unix epoch. */
export interface DeviceRow {
  readonly id: DeviceId;
  readonly name: string | undefined;
  readonly dialect: DialectName;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  /**
   * ONLINE only while the lease of its gateway is alive, so a crashed hub leaves no device online.
   */
  readonly presence: Presence;
  readonly reachability: Reachability;
  readonly transport: TransportKind | undefined;
  readonly connectedAt: number | undefined;
  /** At most a minute ago while the device is ONLINE. */
  readonly lastSeenAt: number | undefined;
  readonly tags: readonly string[];
  /** IANA time zone of the device. Without one, its groups or the settings of the hub decide. */
  readonly timeZone: string | undefined;
  /** Voice servers of this device, in order of preference. */
  readonly voiceUrls: readonly string[];
  readonly toolSetHash: ToolSetHash | undefined;
  readonly toolsDiscoveredAt: number | undefined;
  readonly toolsStale: boolean;
  /** The latest result of each status tool, by tool name. */
  readonly reportedState: Readonly<Record<string, unknown>> | undefined;
  /** Time of the latest change of `reportedState`. */
  readonly reportedStateAt: number | undefined;
  readonly epoch: number;
}

export interface DeviceRecord {
  readonly id: string;
  readonly name: string | null;
  readonly dialect: DialectName;
  readonly model: string | null;
  readonly firmware_version: string | null;
  readonly reachability: Reachability;
  readonly transport: TransportKind | null;
  readonly tags: readonly string[];
  readonly time_zone: string | null;
  readonly voice_urls: readonly string[];
  readonly epoch: number;
  readonly is_online: boolean;
  /** The flag alone: the process that holds the session may have ended. */
  readonly is_marked_online: boolean;
  readonly connected_at: Date | null;
  /** As it is stored. Connections write it; messages do not. */
  readonly last_seen_at: Date | null;
  readonly seen_at: Date | null;
  readonly tool_set_hash: string | null;
  readonly tools_discovered_at: Date | null;
  readonly tools_stale: boolean;
  readonly reported_state: Readonly<Record<string, unknown>> | null;
  readonly reported_state_at: Date | null;
}

/** Columns of a DeviceRecord, from `device d`. */
export const DEVICE_COLUMNS = `d.id, d.name, d.dialect, d.model, d.firmware_version, d.reachability, d.transport,
  d.tags, d.time_zone, d.voice_urls, d.epoch, ${IS_ONLINE} AS is_online, d.online AS is_marked_online, d.connected_at,
  d.last_seen_at, ${SEEN_AT} AS seen_at,
  d.tool_set_hash, d.tools_discovered_at, d.tools_stale, d.reported_state, d.reported_state_at`;

export function toDeviceRow(record: DeviceRecord): DeviceRow {
  return {
    id: record.id as DeviceId,
    name: record.name ?? undefined,
    dialect: record.dialect,
    model: record.model ?? undefined,
    firmwareVersion: record.firmware_version ?? undefined,
    presence: record.is_online ? 'ONLINE' : 'OFFLINE',
    reachability: record.reachability,
    transport: record.transport ?? undefined,
    connectedAt: record.is_online ? record.connected_at?.getTime() : undefined,
    lastSeenAt: record.seen_at?.getTime(),
    tags: record.tags,
    timeZone: record.time_zone ?? undefined,
    voiceUrls: record.voice_urls,
    toolSetHash: (record.tool_set_hash ?? undefined) as ToolSetHash | undefined,
    toolsDiscoveredAt: record.tools_discovered_at?.getTime(),
    toolsStale: record.tools_stale,
    reportedState: record.reported_state ?? undefined,
    reportedStateAt: record.reported_state_at?.getTime(),
    epoch: record.epoch,
  };
}
