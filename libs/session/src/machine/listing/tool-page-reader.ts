/** The walk through the pages of a device's tools, with every way in which devices make such a walk endless. Decides only; sends nothing. [xiaozhi §9 14-18] */
import type { DeviceTool, DiscoveredTools, ToolPage } from '@flotilla/mcp';
import type { SessionLimits } from '../../session-contract.js';

/** How far a walk has come. `cursor` is what the page in flight was asked with; `earlier` is the walk that broke off before this one. */
export interface ToolWalk {
  readonly pages: readonly ToolPage[];
  readonly tools: readonly DeviceTool[];
  readonly cursors: readonly string[];
  readonly cursor: string | undefined;
  readonly earlier: ToolWalk | undefined;
}

/** `next`: ask for the page at the walk's cursor. `problem` says why a listing is not complete. */
export type WalkStep =
  | { readonly kind: 'next'; readonly walk: ToolWalk }
  | { readonly kind: 'done'; readonly discovered: DiscoveredTools; readonly problem: string | undefined }
  | { readonly kind: 'failed' };

export const firstWalk: ToolWalk = { pages: [], tools: [], cursors: [], cursor: undefined, earlier: undefined };

/** Takes a page in. Of tools with equal names the first wins: cursors are inclusive in some firmware's reading. */
export function extendWalk(walk: ToolWalk, page: ToolPage, limits: SessionLimits): WalkStep {
  const names = new Set(walk.tools.map((tool) => tool.name));
  const added = page.tools.filter((tool) => !names.has(tool.name) && names.add(tool.name));
  const tools = [...walk.tools, ...added].slice(0, limits.toolsMax);
  const extended = { ...walk, pages: [...walk.pages, page], tools };
  const { nextCursor } = page;
  if (walk.tools.length + added.length > limits.toolsMax) return done(extended, `more than ${limits.toolsMax} tools`);
  if (nextCursor === undefined) return done(extended);
  if (added.length === 0) return done(extended, 'a page brought no new tool and named a next one');
  if (walk.cursors.includes(nextCursor)) return done(extended, 'a cursor came again');
  if (extended.pages.length >= limits.toolPagesMax) return done(extended, `more than ${limits.toolPagesMax} pages`);
  return { kind: 'next', walk: { ...extended, cursor: nextCursor, cursors: [...walk.cursors, nextCursor] } };
}

/**
 * The page in flight did not come. The first time it begins again without a cursor: over QoS 0 a request may be lost, above all the first large one after
 * a reconnect [xiaozhi §9 17, 24]. Then the longer of the two walks stays.
 */
export function breakWalk(walk: ToolWalk, problem: string): WalkStep {
  const { earlier } = walk;
  if (earlier === undefined) return { kind: 'next', walk: { ...firstWalk, earlier: walk } };
  const longer = earlier.tools.length > walk.tools.length ? earlier : walk;
  return longer.pages.length === 0 ? { kind: 'failed' } : done(longer, problem);
}

function done({ tools, pages }: ToolWalk, problem?: string): WalkStep {
  const pins = pages[0]?.pins;
  return {
    kind: 'done',
    discovered: { tools, pages, isComplete: problem === undefined, ...(pins && { pins }) },
    problem,
  };
}
