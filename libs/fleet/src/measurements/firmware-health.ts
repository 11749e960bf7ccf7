/** How the devices of each firmware version did, newest first, against the version before. */
import { isRateAbove, rateInterval } from '@flotilla/jobs';
import type { DeviceFilter, FleetView, VersionFigures } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { ChartAnswer } from './charts.js';

export interface FirmwareHealthRow extends VersionFigures {
  readonly restartsPer1000Hours: number | undefined;
  readonly rateLow: number | undefined;
  readonly rateHigh: number | undefined;
  readonly previousVersion: string | undefined;
  readonly rateRatio: number | undefined;
  readonly isWorse: boolean;
  readonly isBetter: boolean;
}

export async function readFirmwareHealth(
  { restarts }: Pick<FleetView, 'restarts'>,
  filter: DeviceFilter | undefined,
  { since, now }: { readonly since: number; readonly now: number },
): Promise<ChartAnswer<readonly FirmwareHealthRow[]>> {
  if (since >= now) return { refusal: refuse('INVALID', ['since'], '"since" must be in the past.') };
  const figures = await restarts.versionFigures(filter, { since, until: now });
  return { value: figures.map((one) => withRates(one, versionBefore(one, figures))) };
}

/** Of the versions that are older in the order of their numbers, the nearest one with hours. */
function versionBefore(one: VersionFigures, all: readonly VersionFigures[]): VersionFigures | undefined {
  const older = all.filter((other) => other.deviceHours > 0 && compareVersions(other.version, one.version) < 0);
  return older.sort((a, b) => compareVersions(b.version, a.version))[0];
}

function withRates(one: VersionFigures, before: VersionFigures | undefined): FirmwareHealthRow {
  const own = exposureOf(one);
  const interval = rateInterval(own);
  const rate = own.hours > 0 ? (own.events / own.hours) * 1_000 : undefined;
  const former = before && exposureOf(before);
  const formerRate = former && (former.events / former.hours) * 1_000;
  return {
    ...one,
    restartsPer1000Hours: rate,
    rateLow: interval && interval.low * 1_000,
    rateHigh: interval && interval.high * 1_000,
    previousVersion: before?.version,
    rateRatio: rate !== undefined && formerRate !== undefined && formerRate > 0 ? rate / formerRate : undefined,
    isWorse: rate !== undefined && former !== undefined && isRateAbove(own, former),
    isBetter: former !== undefined && isRateAbove(former, own),
  };
}

function exposureOf({ unexpectedRestarts, deviceHours }: VersionFigures) {
  return { events: unexpectedRestarts, hours: deviceHours };
}

/** Number by number, as devices compare versions. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? -1) - (b[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return one < other ? -1 : Number(one > other);
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map((part) => Number(/\d+/.exec(part)?.[0] ?? 0));
}
