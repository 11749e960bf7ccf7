/** The session directory: which hub process holds a device's live session, and what a caller must know of it before calling. */
import type { DeviceId, HubProcessId, ToolSetHash } from '@flotilla/mcp';

/** One live, greeted session. An entry of an older epoch never replaces a newer one. */
export interface DirectoryEntry {
  readonly deviceId: DeviceId;
  readonly gatewayId: HubProcessId;
  /** Number of the device's connection, from PostgreSQL; grows with each one. */
  readonly epoch: number;
  /** Absent while no listing of this device has ever succeeded. */
  readonly toolSetHash: ToolSetHash | undefined;
}

export interface SessionDirectory {
  put(entry: DirectoryEntry): Promise<void>;
  /** Removes the entry if it still is of this epoch. */
  remove(deviceId: DeviceId, epoch: number): Promise<void>;
  /** A plain value where the directory is in this process, so that the hot path pays no promise. */
  lookup(deviceId: DeviceId): DirectoryEntry | undefined | Promise<DirectoryEntry | undefined>;
}
