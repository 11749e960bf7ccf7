/**
 * Lines of a path stay while it is read again, also where that fails. They are never shown under
 * another path.
 */
import type { CombinedError } from 'urql';
import type { FleetLineQuery } from './generated/measurements';

export type FleetPoint = FleetLineQuery['fleetMeasurements']['points'][number];

export interface FleetLine {
  readonly name: string;
  readonly points: readonly FleetPoint[];
}

export interface FleetLines {
  /** Undefined before the first answer. */
  readonly lines: readonly FleetLine[] | undefined;
  readonly since: string;
  readonly error: CombinedError | undefined;
}

export interface ReadLines extends FleetLines {
  readonly path: string | undefined;
}

export const noLines: ReadLines = { path: undefined, lines: undefined, since: '', error: undefined };

export function linesAfter(former: ReadLines, read: ReadLines): ReadLines {
  return { ...read, lines: read.lines ?? linesOfPath(former, read.path).lines };
}

export function linesOfPath(found: ReadLines, path: string | undefined): FleetLines {
  return found.path === path ? found : noLines;
}
