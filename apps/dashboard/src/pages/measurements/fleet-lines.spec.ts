import { CombinedError } from 'urql';
import { describe, expect, it } from 'vitest';
import { linesAfter, linesOf, type LinesWanted, noLines, type ReadLines } from './fleet-lines';

const error = new CombinedError({ networkError: new Error('The hub does not answer.') });
const fleet = [{ name: 'fleet', filter: { all: true } }];
const volume: LinesWanted = { path: 'volume', parts: fleet, periodMs: 86_400_000 };
const read: ReadLines = { wanted: volume, lines: [{ name: 'fleet', points: [] }], since: 'before', error: undefined };
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
});
