/**
 * Lists a device's tools: first before `ready`, later between calls. The session continues
 * regardless of the result.
 */
import type { ToolPage } from '@flotilla/mcp';
import type { Turn } from '../machine-state.js';
import { freeId, register } from '../request-ids.js';
import { enterPhase, reportAnomaly } from '../session-phases.js';
import { handleMissingPage, addPage, emptyListing } from './tool-page-reader.js';
import type { ListingProgress, ListingStep } from './tool-page-reader.js';

export function startListing(turn: Turn): void {
  turn.state = { ...turn.state, isRefreshWanted: false };
  requestPage(turn, emptyListing);
}

export function pageReceived(turn: Turn, listing: ListingProgress, page: ToolPage): void {
  const { droppedEntries = 0 } = page;
  if (droppedEntries > 0) reportAnomaly(turn, 'listing_incomplete', `${droppedEntries} entries are not valid tools`);
  continueListing(turn, addPage(listing, page, turn.rules.limits), '');
}

export function pageFailed(turn: Turn, listing: ListingProgress, problem: string): void {
  continueListing(turn, handleMissingPage(listing, problem), problem);
}

function continueListing(turn: Turn, step: ListingStep, problem: string): void {
  if (step.kind === 'next') return requestPage(turn, step.listing);
  if (step.kind === 'failed') {
    turn.effects.push({ kind: 'discoveryFailed', message: problem });
  } else {
    if (step.problem !== undefined) reportAnomaly(turn, 'listing_incomplete', step.problem);
    turn.effects.push({ kind: 'toolsDiscovered', discovered: step.discovered });
  }
  if (turn.state.phase === 'discovering') enterPhase(turn, 'ready');
}

function requestPage(turn: Turn, listing: ListingProgress): void {
  const { dialect, limits } = turn.rules;
  const id = freeId(turn.state, dialect.requestIdMax);
  register(turn, { kind: 'page', id, sentAt: turn.now, deadlineAt: turn.now + limits.listingTimeoutMs, listing });
  turn.effects.push({ kind: 'send', id, text: dialect.encodePageRequest(id, listing.cursor) });
}
