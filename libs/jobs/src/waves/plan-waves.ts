/** Cuts a frozen target set into waves. [jobs §13] */
import { wavesMax } from '../job-limits.js';
import type { Wave, WaveSpec } from './wave.js';

/** A wave that is to be made. */
export type PlannedWave = Pick<Wave, 'number' | 'size' | 'gate' | 'successThreshold' | 'soakSeconds'>;

/** Guards of a last wave guard nothing. */
const rest = { gate: 'AUTO', successThreshold: 0, soakSeconds: 0 } as const;

/** Keeps 7 % of 100 at 7 despite binary fractions. */
const roundingSlack = 1e-9;

/**
 * Consecutive waves that cover all targets. Targets beyond the last requested wave form one more,
 * or join the last where there may be no more; empty waves are left out.
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
