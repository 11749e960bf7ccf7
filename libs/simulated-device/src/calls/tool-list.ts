/**
 * The tools of one firmware and its `tools/list` pages. All devices of a profile share one list,
 * and regular pages are built once: listing ten thousand devices must be cheap. [xiaozhi §4.4]
 */
import { toolEntry, type SimulatedTool } from './tool.js';
import { utf8Length } from '../json/utf8.js';

/** Bytes of a page that the firmware does not exceed before it adds the cursor. */
const PAGE_BYTES_MAX = 8000;
/** What the firmware keeps free of that for the end of the page. */
const PAGE_BYTES_RESERVED = 30;
const PAGE_START = '{"tools":[';

/** The text of `result`, or the error. */
type ListedPage = { readonly result: string } | { readonly error: string };

interface Entry {
  readonly tool: SimulatedTool;
  readonly json: string;
  readonly bytes: number;
}

export class ToolList {
  readonly #entries: readonly Entry[];
  readonly #byName: ReadonlyMap<string, SimulatedTool>;
  readonly #walk = new Map<string, ListedPage>();

  /** A name given twice is kept once, the first wins. */
  constructor(tools: readonly SimulatedTool[]) {
    const byName = new Map<string, SimulatedTool>();
    for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    this.#byName = byName;
    this.#entries = [...byName.values()].map((tool) => {
      const json = toolEntry(tool);
      return { tool, json, bytes: utf8Length(json) };
    });
    this.#remember(false);
    this.#remember(true);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  find(name: string): SimulatedTool | undefined {
    return this.#byName.get(name);
  }

  /** The page that begins with the tool `cursor` itself; `''` is the first page. */
  page(cursor: string, withUserTools: boolean): ListedPage {
    return this.#walk.get(walkKey(cursor, withUserTools)) ?? this.#make(cursor, withUserTools).page;
  }

  /** Makes the pages that a client meets when it follows the cursors from the start. */
  #remember(withUserTools: boolean): void {
    let cursor: string | undefined = '';
    while (cursor !== undefined && !this.#walk.has(walkKey(cursor, withUserTools))) {
      const made: { page: ListedPage; nextCursor: string | undefined } = this.#make(cursor, withUserTools);
      this.#walk.set(walkKey(cursor, withUserTools), made.page);
      cursor = made.nextCursor;
    }
  }

  #make(cursor: string, withUserTools: boolean): { page: ListedPage; nextCursor: string | undefined } {
    const start = cursor === '' ? 0 : this.#entries.findIndex((entry) => entry.tool.name === cursor);
    const candidates =
      start < 0 ? [] : this.#entries.slice(start).filter((entry) => withUserTools || !entry.tool.isUserOnly);
    const fitting = countFitting(candidates);
    const nextCursor = candidates[fitting]?.tool.name;
    if (fitting === 0)
      return {
        page: { error: `Failed to add tool ${nextCursor ?? ''} because of payload size limit` },
        nextCursor: undefined,
      };
    const entries = candidates.slice(0, fitting).map((entry) => entry.json);
    const end = nextCursor === undefined ? ']}' : `],"nextCursor":"${nextCursor}"}`;
    return { page: { result: `${PAGE_START}${entries.join(',')}${end}` }, nextCursor };
  }
}

function countFitting(entries: readonly Entry[]): number {
  let bytes = PAGE_START.length;
  for (const [index, entry] of entries.entries()) {
    const withEntry = bytes + entry.bytes + 1;
    if (withEntry + PAGE_BYTES_RESERVED > PAGE_BYTES_MAX) return index;
    bytes = withEntry;
  }
  return entries.length;
}

function walkKey(cursor: string, withUserTools: boolean): string {
  return `${withUserTools ? '+' : '-'}${cursor}`;
}
