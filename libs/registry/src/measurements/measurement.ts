/** Measurements as callers of the stores see them. Times are ms since the Unix epoch. */
import type { ChartPlan } from '@flotilla/signals';
import type { DeviceFilter } from '../device-filter.js';

/** A number that is to be stored, with the rule that asks for it. */
export interface NewPoint {
  readonly deviceId: string;
  readonly path: string;
  readonly at: number;
  readonly value: number;
  readonly ruleId: string;
}

export interface LatestPoint {
  readonly path: string;
  readonly at: number;
  readonly value: number;
}

export interface LatestOfDevice {
  readonly deviceId: string;
  readonly at: number;
  readonly value: number;
}

/** The latest values of one path over a fleet. */
export interface LatestOver {
  readonly filter: DeviceFilter;
  /** A whole path, without `*`. */
  readonly path: string;
  /** Only values at or after it. */
  readonly since?: number;
  /** Only of devices that are online, were seen, or reported the value at or after it. */
  readonly seenSince?: number;
  /** Only values beyond it. */
  readonly above?: number;
  readonly below?: number;
  readonly limit?: number;
}

export interface SeriesRequest {
  readonly deviceId: string;
  readonly paths: readonly string[];
  readonly since: number;
  /** Not in the period. */
  readonly until: number;
  readonly plan: ChartPlan;
  /** From when a viewer with an access scope sees the device; roll-ups from before are hidden. */
  readonly visibleSince?: number;
}

export interface SeriesPoint {
  readonly at: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export interface Series {
  readonly path: string;
  readonly points: readonly SeriesPoint[];
  readonly latest: number | undefined;
  readonly latestAt: number | undefined;
}

export interface FleetSeriesRequest {
  /** Undefined for the whole fleet. */
  readonly filter: DeviceFilter | undefined;
  readonly path: string;
  readonly since: number;
  readonly until: number;
  readonly plan: ChartPlan;
}

/** What a plan of charts needs to know. */
export interface ChartFacts {
  /** From when single points are there. */
  readonly rawSince: number;
  /** Devices that have reported the path. */
  readonly series: number;
}

/** The latest values of one path over the fleet. */
export interface FleetAggregate {
  readonly path: string;
  readonly devices: number;
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export interface FleetSeriesPoint extends SeriesPoint {
  readonly p95: number;
  readonly deviceCount: number;
}

export interface RecordingRuleRow {
  readonly id: string;
  readonly devices: DeviceFilter;
  readonly path: string;
  readonly deadband: number;
  readonly minIntervalSeconds: number;
  readonly savedBy: string;
  readonly savedAt: number;
}
