/**
 * Lines stay while they are read again, also where that fails, and while others are added to them
 * or removed. They are never shown under another path, split or period.
 */
import type { CombinedError } from 'urql';
import type { FleetLineQuery, FleetLineQueryVariables } from './generated/measurements';

type FleetPoint = FleetLineQuery['fleetMeasurements']['points'][number];

/** A part of the fleet with the name of its line. */
export interface FleetPart {
  readonly name: string;
  readonly filter: FleetLineQueryVariables['filter'];
}

export interface LinesWanted {
  readonly path: string | undefined;
  readonly parts: readonly FleetPart[];
  readonly periodMs: number;
}

export interface FleetLine extends FleetPart {
  readonly points: readonly FleetPoint[];
}

export interface FleetLines {
  /** Undefined before the first answer. */
  readonly lines: readonly FleetLine[] | undefined;
  readonly since: string;
  readonly error: CombinedError | undefined;
}

export interface ReadLines extends FleetLines {
  readonly wanted: LinesWanted | undefined;
}

export const noLines: ReadLines = { wanted: undefined, lines: undefined, since: '', error: undefined };

export function linesAfter(former: ReadLines, read: ReadLines): ReadLines {
  return { ...read, lines: read.lines ?? linesOf(former, read.wanted).lines };
}

export function linesOf(found: ReadLines, wanted: LinesWanted | undefined): FleetLines {
  if (found.wanted?.path !== wanted?.path || found.wanted?.periodMs !== wanted?.periodMs) return noLines;
  const keys = new Set(wanted?.parts.map(keyOf));
  if (!found.wanted?.parts.some((part) => keys.has(keyOf(part)))) return noLines;
  const lines = found.lines?.filter((line) => keys.has(keyOf(line)));
  return { ...found, lines: lines?.length === 0 ? undefined : lines };
}

/** By value: parts are made again where the choices are read again. */
function keyOf({ name, filter }: FleetPart): string {
  return JSON.stringify([name, filter]);
}
