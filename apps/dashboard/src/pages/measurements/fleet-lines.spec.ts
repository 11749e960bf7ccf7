import { CombinedError } from 'urql';
import { describe, expect, it } from 'vitest';
import {
  type FleetLine,
  type FleetPart,
  linesAfter,
  linesOf,
  type LinesWanted,
  noLines,
  type ReadLines,
} from './fleet-lines';

const error = new CombinedError({ networkError: new Error('The hub does not answer.') });
const fleet = [{ name: 'fleet', filter: { all: true } }];
const volume: LinesWanted = { path: 'volume', parts: fleet, periodMs: 86_400_000 };
const lineOf = (part: FleetPart): FleetLine => ({ ...part, points: [] });
const read: ReadLines = { wanted: volume, lines: fleet.map(lineOf), since: 'before', error: undefined };
const failed = (wanted: LinesWanted): ReadLines => linesAfter(read, { wanted, lines: undefined, since: 'now', error });

describe('the lines of a path', () => {
  it('stay where a later read of the same fails', () => {
    expect(linesOf(failed(volume), volume)).toMatchObject({ lines: read.lines, error });
    const sameParts = { ...volume, parts: [...fleet] };
    expect(linesOf(failed(sameParts), volume)).toMatchObject({ lines: read.lines, error });
  });

  it.each([
    ['path', { ...volume, path: 'battery' }],
    ['split', { ...volume, parts: [{ name: 'bread-compact', filter: { model: 'bread-compact' } }] }],
    ['period', { ...volume, periodMs: 3_600_000 }],
  ])('are not shown under another %s, neither while it loads nor after it failed', (_name, other) => {
    expect(linesOf(read, other).lines).toBeUndefined();
    expect(linesOf(failed(other), other)).toMatchObject({ lines: undefined, error });
  });

  it('are those of the latest answer', () => {
    expect(linesOf(linesAfter(noLines, read), volume)).toEqual(read);
  });

  it('stay where others are compared with them, or no longer', () => {
    const partOf = (model: string): FleetPart => ({ name: model, filter: { model } });
    const [bread, screen, disc] = [partOf('bread'), partOf('screen'), partOf('disc')];
    const of = (...parts: FleetPart[]): LinesWanted => ({ ...volume, parts });
    const two: ReadLines = { ...read, wanted: of(bread, screen), lines: [bread, screen].map(lineOf) };
    expect(linesOf(two, of(bread, screen, disc)).lines).toEqual(two.lines);
    expect(linesOf(two, of(screen)).lines).toEqual([lineOf(screen)]);
    expect(linesOf(two, of(disc)).lines).toBeUndefined();
    const added = linesAfter(two, { wanted: of(screen, disc), lines: undefined, since: 'now', error });
    expect(linesOf(added, of(screen, disc))).toMatchObject({ lines: [lineOf(screen)], error });
    expect(linesOf(added, of(disc)).lines).toBeUndefined();
  });
});
