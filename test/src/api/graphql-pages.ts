/** All rows of a GraphQL list, page by page. */
import type { HubProcess } from '../hub/hub-process.js';
import { ask } from './graphql-client.js';

interface PageOf<Node> {
  readonly nodes: readonly Node[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** List, selection, arguments, page size, and what runs after each page. */
export type ListPages = [
  list: string,
  selection: string,
  args: string,
  first: number,
  between?: () => Promise<unknown>,
];

export async function allPages<Node>(
  hub: HubProcess,
  ...[list, selection, args, first, between = async () => undefined]: ListPages
): Promise<Node[]> {
  const query = `query ($after: String) { ${list}(first: ${first}, after: $after ${args}) {
    nodes { ${selection} } pageInfo { hasNextPage endCursor } } }`;
  const found: Node[] = [];
  let after: string | null = null;
  for (;;) {
    const page: PageOf<Node> | undefined = (await ask<Record<string, PageOf<Node>>>(hub, query, { after }))[list];
    if (!page) throw new Error(`no ${list} in the answer`);
    found.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return found;
    after = page.pageInfo.endCursor;
    await between();
  }
}
