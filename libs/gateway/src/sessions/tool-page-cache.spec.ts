import { describe, expect, it } from 'vitest';
import { BoundedToolPageCache } from './tool-page-cache.js';

const page = { tools: [], nextCursor: undefined, droppedEntries: 0 };

describe('BoundedToolPageCache', () => {
  it('gives back the very page that was remembered', () => {
    const cache = new BoundedToolPageCache(100);
    cache.remember('a', page);
    expect(cache.recall('a')).toBe(page);
    expect(cache.recall('b')).toBeUndefined();
  });

  it('forgets the longest unused page beyond its bound', () => {
    const cache = new BoundedToolPageCache(60);
    for (const letter of ['a', 'b', 'c']) cache.remember(letter.repeat(10), page);
    cache.recall('a'.repeat(10));
    cache.remember('d'.repeat(10), page);
    expect(cache.recall('b'.repeat(10))).toBeUndefined();
    expect(cache.recall('a'.repeat(10))).toBe(page);
    expect(cache.bytes).toBe(60);
  });

  it('counts a page once however often it is remembered, and holds none that is larger than the bound', () => {
    const cache = new BoundedToolPageCache(60);
    cache.remember('a', page);
    cache.remember('a', page);
    expect(cache.bytes).toBe(2);
    cache.remember('x'.repeat(31), page);
    expect(cache.bytes).toBe(0);
  });
});
