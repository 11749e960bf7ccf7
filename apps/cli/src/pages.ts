/** Lists of the API, page by page, up to a limit. */

interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** The largest page that the API returns. */
const pageRows = 200;

export async function* eachNode<Node>(
  read: (page: { readonly first: number; readonly after: string | null }) => Promise<Page<Node>>,
): AsyncGenerator<Node, void, void> {
  for (let after: string | null = null; ;) {
    const { nodes, pageInfo }: Page<Node> = await read({ first: pageRows, after });
    yield* nodes;
    if (!pageInfo.hasNextPage || pageInfo.endCursor === null) return;
    after = pageInfo.endCursor;
  }
}

/** The first `limit` items, or all if it is 0. Calls `onMore` when there are more. */
export async function* firstOf<Item>(
  limit: number,
  items: AsyncIterable<Item>,
  onMore: () => void = () => undefined,
): AsyncGenerator<Item, void, void> {
  let count = 0;
  for await (const item of items) {
    if (limit !== 0 && ++count > limit) return onMore();
    yield item;
  }
}
