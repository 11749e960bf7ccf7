import { describe, expect, it } from 'vitest';
import { pageStart, pathsMax } from './chart-pages';

describe('the page of small charts', () => {
  const paths = Array.from({ length: 2 * pathsMax + 1 }, (_, index) => `path-${index}`);

  it('is the first without a chosen path, or with one that is gone', () => {
    expect(pageStart(paths, undefined)).toBe(0);
    expect(pageStart(paths, 'gone')).toBe(0);
    expect(pageStart([], 'path-7')).toBe(0);
  });

  it('is the one with the chosen path', () => {
    expect(pageStart(paths, `path-${pathsMax - 1}`)).toBe(0);
    expect(pageStart(paths, `path-${pathsMax}`)).toBe(pathsMax);
    expect(pageStart(paths, `path-${2 * pathsMax}`)).toBe(2 * pathsMax);
  });

  it('turns to the first path of the next page, and back', () => {
    const next = paths[pageStart(paths, 'path-3') + pathsMax];
    expect(pageStart(paths, next)).toBe(pathsMax);
    expect(pageStart(paths, paths[pageStart(paths, next) - pathsMax])).toBe(0);
  });
});
