/** Cuts a frozen target set into waves. [jobs §13] */
import { wavesMax } from '../job-limits.js';
import type { Wave, WaveSpec } from './wave.js';

/** A wave that is to be made. */
export type PlannedWave = Pick<Wave, 'number' | 'size' | 'gate' | 'successThreshold' | 'soakSeconds'>;

/** Guards of a last wave guard nothing. */
const rest = { gate: 'AUTO', successThreshold: 0, soakSeconds: 0 } as const;

/** Keeps 7 % of 100 at 7, whatever binary fractions make of it. */
const roundingSlack = 1e-9;

/**
 * Waves that follow one another without a gap or an overlap and end with the last target. What the waves asked for leave over is one more, or belongs to
 * the last where there may be no more; waves that would be empty are left out. None where none was asked for.
 */
export function planWaves(total: number, specs: readonly WaveSpec[]): readonly PlannedWave[] {
  if (specs.length === 0) return [];
  const planned: PlannedWave[] = [];
  let placed = 0;
  const add = (
    end: number,
    { gate, successThreshold, soakSeconds }: Pick<PlannedWave, 'gate' | 'successThreshold' | 'soakSeconds'>,
  ): void => {
    if (end <= placed) return;
    planned.push({ number: planned.length + 1, size: end - placed, gate, successThreshold, soakSeconds });
    placed = end;
  };
  for (const [index, spec] of specs.entries()) add(index + 1 === wavesMax ? total : endOf(spec, placed, total), spec);
  add(total, rest);
  return planned;
}

function endOf(spec: WaveSpec, placed: number, total: number): number {
  const end = spec.count === undefined ? Math.ceil((total * spec.percent) / 100 - roundingSlack) : placed + spec.count;
  return Math.min(end, total);
}
