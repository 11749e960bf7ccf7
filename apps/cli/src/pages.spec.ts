import { describe, expect, it } from 'vitest';
import { captured } from './console/captured-output.suite.js';
import { eachNode, upTo } from './pages.js';

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
    [0, [1, 2, 3], ''],
    [3, [1, 2, 3], ''],
    [2, [1, 2], 'More than 2 match. List all with --limit 0.\n'],
  ])('with --limit %i has %j', async (limit, expected, message) => {
    async function* items() {
      yield* [1, 2, 3];
    }
    const { result, stderr } = await captured(() => all(upTo(limit, items())));
    expect([result, stderr]).toEqual([expected, message]);
  });
});
