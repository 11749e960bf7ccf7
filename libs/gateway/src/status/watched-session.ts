/** The part of a live session that the status watch needs. */
import type { DeviceId } from '@flotilla/mcp';
import type { Session } from '@flotilla/session';

export interface WatchedSession {
  readonly deviceId: DeviceId;
  readonly session: Session;
  readonly record: {
    readonly epoch: number | undefined;
    /** The device has a newer session elsewhere, or was removed. */
    superseded(): void;
  };
  /** The tool that returns the state without arguments; undefined if the device has none. */
  readonly statusTool: string | undefined;
}
