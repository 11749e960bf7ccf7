/**
 * Collects the pages of a device's tools and detects every way in which devices make a listing
 * endless. Sends nothing. [xiaozhi §9 14-18]
 */
import type { DeviceTool, DiscoveredTools, ToolPage } from '@flotilla/mcp';
import type { SessionLimits } from '../../session-contract.js';

/**
 * The progress of a listing. `cursor` requested the page in flight; `earlier` is the first attempt,
 * if this is the second.
 */
export interface ListingProgress {
  readonly pages: readonly ToolPage[];
  readonly tools: readonly DeviceTool[];
  readonly cursors: readonly string[];
  readonly cursor: string | undefined;
  readonly earlier: ListingProgress | undefined;
}

/** `next`: request the page at `cursor`. `problem` explains why a listing is incomplete. */
export type ListingStep =
  | { readonly kind: 'next'; readonly listing: ListingProgress }
  | { readonly kind: 'done'; readonly discovered: DiscoveredTools; readonly problem: string | undefined }
  | { readonly kind: 'failed' };

export const emptyListing: ListingProgress = {
  pages: [],
  tools: [],
  cursors: [],
  cursor: undefined,
  earlier: undefined,
};

/**
 * UTF-16 code units of a cursor, which names a tool. With up to six bytes for each, the request of
 * the next page stays below `requestBytesMax`.
 */
const CURSOR_MAX = 1_024;

/** Adds a page. The first of equal names wins, because cursors are inclusive in some firmware. */
export function addPage(listing: ListingProgress, page: ToolPage, limits: SessionLimits): ListingStep {
  const names = new Set(listing.tools.map((tool) => tool.name));
  const added = page.tools.filter((tool) => !names.has(tool.name) && names.add(tool.name));
  const tools = [...listing.tools, ...added].slice(0, limits.toolsMax);
  const extended = { ...listing, pages: [...listing.pages, page], tools };
  const { nextCursor } = page;
  if (listing.tools.length + added.length > limits.toolsMax)
    return done(extended, `more than ${limits.toolsMax} tools`);
  if (nextCursor === undefined) return done(extended);
  if (added.length === 0) return done(extended, 'a page added no new tool but has a next cursor');
  if (listing.cursors.includes(nextCursor)) return done(extended, 'a cursor was repeated');
  if (nextCursor.length > CURSOR_MAX) return done(extended, `a cursor has more than ${CURSOR_MAX} characters`);
  if (extended.pages.length >= limits.toolPagesMax) return done(extended, `more than ${limits.toolPagesMax} pages`);
  return { kind: 'next', listing: { ...extended, cursor: nextCursor, cursors: [...listing.cursors, nextCursor] } };
}

/**
 * Handles a missing page. The first time the listing restarts, because QoS 0 may lose a request;
 * then the longer of the two attempts is kept. [xiaozhi §9 17, 24]
 */
export function handleMissingPage(listing: ListingProgress, problem: string): ListingStep {
  const { earlier } = listing;
  if (earlier === undefined) return { kind: 'next', listing: { ...emptyListing, earlier: listing } };
  const longer = earlier.tools.length > listing.tools.length ? earlier : listing;
  return longer.pages.length === 0 ? { kind: 'failed' } : done(longer, problem);
}

function done({ tools, pages }: ListingProgress, problem?: string): ListingStep {
  const pins = pages[0]?.pins;
  return {
    kind: 'done',
    discovered: { tools, pages, isComplete: problem === undefined, ...(pins && { pins }) },
    problem,
  };
}
