/**
 * Finds the tool set of a listing by its pages. Devices of one firmware send the same pages and the
 * page cache returns the same object for the same page, so for most devices this is a lookup.
 */
import { createHash } from 'node:crypto';
import { canonicalToolSet, compileArguments } from '@flotilla/mcp';
import type { DiscoveredTools, ToolPage, ToolSetHash } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';

/** A sequence of pages: the tool set if it ends here, and the longer sequences. */
interface PageNode {
  toolSet?: ToolSet;
  readonly next: WeakMap<ToolPage, PageNode>;
}

export class ToolSetIndex {
  /** Weak: an entry lives as long as the page cache keeps its pages. */
  readonly #root: PageNode = { next: new WeakMap() };

  toolSetOf(discovered: DiscoveredTools): ToolSet {
    if (discovered.pages.length === 0) return makeToolSet(discovered);
    let node = this.#root;
    for (const page of discovered.pages) {
      let next = node.next.get(page);
      if (next === undefined) {
        next = { next: new WeakMap() };
        node.next.set(page, next);
      }
      node = next;
    }
    node.toolSet ??= makeToolSet(discovered);
    return node.toolSet;
  }
}

function makeToolSet({ tools: discovered, pins = [] }: DiscoveredTools): ToolSet {
  const { canonicalJson, tools } = canonicalToolSet(discovered, pins);
  const hash = createHash('sha256').update(canonicalJson).digest('hex') as ToolSetHash;
  return {
    hash,
    tools: tools.map((tool) => ({ ...tool, schemaKnown: compileArguments(tool.inputSchema).schemaKnown })),
    pins,
  };
}
