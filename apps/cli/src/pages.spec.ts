import { describe, expect, it } from 'vitest';
import { eachNode, firstOf } from './pages.js';

const pages = [
  { nodes: [1, 2], pageInfo: { hasNextPage: true, endCursor: 'c2' } },
  { nodes: [3], pageInfo: { hasNextPage: false, endCursor: 'c3' } },
];

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

describe('a list of the API', () => {
  it('is read page by page from the last cursor', async () => {
    const asked: unknown[] = [];
    const nodes = eachNode((page) => {
      asked.push(page);
      return Promise.resolve(
        pages[asked.length - 1] ?? { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
      );
    });
    expect(await all(nodes)).toEqual([1, 2, 3]);
    expect(asked).toEqual([
      { first: 200, after: null },
      { first: 200, after: 'c2' },
    ]);
  });

  it.each([
    [0, [1, 2, 3], false],
    [3, [1, 2, 3], false],
    [2, [1, 2], true],
  ])('with limit %i has %j, and says whether there are more: %j', async (limit, expected, hasMore) => {
    async function* items() {
      yield* [1, 2, 3];
    }
    let wereMore = false;
    const shown = await all(
      firstOf(limit, items(), () => {
        wereMore = true;
      }),
    );
    expect([shown, wereMore]).toEqual([expected, hasMore]);
  });
});
