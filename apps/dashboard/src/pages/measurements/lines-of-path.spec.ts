import { CombinedError } from 'urql';
import { describe, expect, it } from 'vitest';
import { linesAfter, linesOfPath, noLines, type ReadLines } from './lines-of-path';

const error = new CombinedError({ networkError: new Error('The hub does not answer.') });
const volume: ReadLines = { path: 'volume', lines: [{ name: 'fleet', points: [] }], since: 'before', error: undefined };

describe('the lines of a path', () => {
  it('stay where a later read of the same path fails', () => {
    const failed = linesAfter(volume, { path: 'volume', lines: undefined, since: 'now', error });
    expect(linesOfPath(failed, 'volume')).toMatchObject({ lines: volume.lines, error });
  });

  it('are not shown under another path, neither while it loads nor after it failed', () => {
    expect(linesOfPath(volume, 'battery').lines).toBeUndefined();
    const failed = linesAfter(volume, { path: 'battery', lines: undefined, since: 'now', error });
    expect(linesOfPath(failed, 'battery')).toMatchObject({ lines: undefined, error });
  });

  it('are those of the latest answer', () => {
    expect(linesOfPath(linesAfter(noLines, volume), 'volume')).toEqual(volume);
  });
});
