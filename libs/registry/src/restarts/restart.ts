/** Restarts of devices as callers of the store see them. Times are ms since the Unix epoch. */
import type { DeviceId } from '@flotilla/mcp';
import type { EventRow } from '../events/event-store.js';

/** How the hub noticed a restart. */
export type RestartSign = 'OTA' | 'UPTIME' | 'NOTIFICATION';

/** What explains a restart; UNEXPECTED where nothing does. */
export type RestartCause = 'CALL' | 'JOB' | 'CREDENTIAL' | 'HUB' | 'UNEXPECTED';

export interface JudgedRestart {
  readonly deviceId: DeviceId;
  readonly at: number;
  readonly cause: RestartCause;
  /** The version that ran before, which is charged with the restart. */
  readonly firmwareVersion: string | undefined;
  readonly bootedVersion: string | undefined;
  readonly reason: string | undefined;
  readonly via: RestartSign;
}

/** What one look has judged. */
export interface JudgedRestarts {
  readonly restarts: readonly JudgedRestart[];
  /** Of those that are unexpected, stored already. */
  readonly events: readonly EventRow[];
}

/** A boot that the uptime of a microcontroller shows. */
export interface ShownBoot {
  readonly deviceId: string;
  /** When it started: now less its uptime. */
  readonly bootedAt: number;
  readonly uptimeMs: number;
  readonly firmwareVersion: string | undefined;
  readonly reason: string | undefined;
}

/** A noted start whose time changes because the clock of the hub was set. */
export interface MovedBoot {
  readonly deviceId: string;
  /** The start as it was noted; others, such as those that another gateway noted, do not move. */
  readonly knownAt: number;
  readonly movedTo: number;
}

/** How long an act explains a restart after it, ms. */
export interface ExplainedFor {
  readonly rebootMs: number;
  readonly firmwareMs: number;
}

/** One version over some devices and time. */
export interface VersionFigures {
  readonly version: string;
  /** Devices that run it now. */
  readonly deviceCount: number;
  readonly offlineCount: number;
  readonly deviceHours: number;
  readonly unexpectedRestarts: number;
  readonly firstSeenAt: number | undefined;
}
