/** The session directory: which hub process holds the live session of a device. */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';

/** One live session after its greeting. An entry of an older epoch never replaces a newer one. */
export interface DirectoryEntry {
  readonly deviceId: DeviceId;
  readonly gatewayId: HubProcessId;
  /** The session epoch, from PostgreSQL. */
  readonly epoch: number;
  /** Absent until the first listing of the device has succeeded. */
  readonly toolSetHash: ToolSetHash | undefined;
}

export interface SessionDirectory {
  /** Writes the entry. If it rejects, the directory itself writes it later, until `remove`. */
  put(entry: DirectoryEntry): Promise<void>;
  /** Removes the entry if it still has this epoch. If it rejects, the entry expires. */
  remove(deviceId: DeviceId, epoch: number): Promise<void>;
  /** Returns a plain value for a local directory: a promise is too slow for the hot path. */
  lookup(deviceId: DeviceId): DirectoryEntry | undefined | Promise<DirectoryEntry | undefined>;
}
