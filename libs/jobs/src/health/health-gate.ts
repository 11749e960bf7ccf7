/** Whether a roll-out has to stop because its devices restart too often. [jobs §15] */
import type { AbortAction } from '../abort/abort-rule.js';
import { isRateAbove, isRateAboveBound } from './poisson.js';

export interface HealthGate {
  /** Tolerated restarts; undefined: twice the rate of the devices on their old version. */
  readonly maxRestartsPer1000Hours?: number | undefined;
  /** How long a wave is watched from its last decision on. */
  readonly observeSeconds: number;
  readonly action: AbortAction;
}

/** Counts since the start of the job, or since it was resumed after the gate stopped it last. */
export interface HealthEvidence {
  readonly version: string;
  readonly restarts: number;
  readonly deviceHours: number;
  readonly baselineRestarts: number;
  readonly baselineDeviceHours: number;
  /** Devices of the open wave that restarted three times within ten minutes. */
  readonly loopingDevices: number;
}

/** The counts that stopped a roll-out. `at` in ms since the Unix epoch. */
export interface TrippedHealthGate extends Omit<HealthEvidence, 'loopingDevices'> {
  readonly at: number;
  /** When an operator resumed the roll-out. */
  readonly resumedAt?: number;
}

/** The times of a job from which restarts may count. */
interface RunBounds {
  readonly startedAt?: number | undefined;
  readonly trippedHealthGate?: TrippedHealthGate | undefined;
}

export const observeSecondsDefault = 600;

/** So many looping devices stop the roll-out without a comparison. */
const loopingMax = 3;
/** One restart is an accident in any number of hours. */
const restartsMin = 2;
/** A device ran for a moment before each restart, also where no session shows it. */
const hoursPerRestartMin = 30 / 3_600;
/** What is tolerated of the old version's rate. */
const toleratedTimes = 2;

/** From when on restarts count, ms since the Unix epoch: those during the gate's pause do not. */
export function countedSince({ startedAt, trippedHealthGate }: RunBounds, now: number): number {
  return trippedHealthGate?.resumedAt ?? trippedHealthGate?.at ?? startedAt ?? now;
}

export function isUnhealthy({ maxRestartsPer1000Hours }: HealthGate, evidence: HealthEvidence): boolean {
  const { restarts, deviceHours, baselineRestarts, baselineDeviceHours, loopingDevices } = evidence;
  if (loopingDevices >= loopingMax) return true;
  if (restarts < restartsMin) return false;
  const own = { events: restarts, hours: Math.max(deviceHours, restarts * hoursPerRestartMin) };
  if (maxRestartsPer1000Hours !== undefined) return isRateAboveBound(own, maxRestartsPer1000Hours / 1_000);
  return isRateAbove(own, { events: baselineRestarts, hours: baselineDeviceHours }, toleratedTimes);
}
