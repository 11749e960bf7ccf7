/** As much of a live session as the watch over its state needs. */
import type { DeviceId } from '@flotilla/mcp';
import type { Session } from '@flotilla/session';

export interface WatchedSession {
  readonly deviceId: DeviceId;
  readonly session: Session;
  readonly record: { readonly epoch: number | undefined };
  /** Tells the state, without arguments; undefined where the device has no such tool. */
  readonly statusTool: string | undefined;
}
