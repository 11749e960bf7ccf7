/** The listing of a device's tools, at first before `ready` and later between calls. However it ends, the session goes on. */
import type { ToolPage } from '@flotilla/mcp';
import type { Turn } from '../machine-state.js';
import { freeId, register } from '../request-ids.js';
import { enterPhase, reportAnomaly } from '../session-phases.js';
import { breakWalk, extendWalk, firstWalk } from './tool-page-reader.js';
import type { ToolWalk, WalkStep } from './tool-page-reader.js';

export function startListing(turn: Turn): void {
  turn.state = { ...turn.state, isRefreshWanted: false };
  requestPage(turn, firstWalk);
}

export function pageReceived(turn: Turn, walk: ToolWalk, page: ToolPage): void {
  const { droppedEntries = 0 } = page;
  if (droppedEntries > 0) reportAnomaly(turn, 'listing_incomplete', `${droppedEntries} entries are no tools`);
  follow(turn, extendWalk(walk, page, turn.rules.limits), '');
}

export function pageFailed(turn: Turn, walk: ToolWalk, problem: string): void {
  follow(turn, breakWalk(walk, problem), problem);
}

function follow(turn: Turn, step: WalkStep, problem: string): void {
  if (step.kind === 'next') return requestPage(turn, step.walk);
  if (step.kind === 'failed') {
    turn.effects.push({ kind: 'discoveryFailed', message: problem });
  } else {
    if (step.problem !== undefined) reportAnomaly(turn, 'listing_incomplete', step.problem);
    turn.effects.push({ kind: 'toolsDiscovered', discovered: step.discovered });
  }
  if (turn.state.phase === 'discovering') enterPhase(turn, 'ready');
}

function requestPage(turn: Turn, walk: ToolWalk): void {
  const { dialect, limits } = turn.rules;
  const id = freeId(turn.state, dialect.requestIdMax);
  register(turn, { kind: 'page', id, sentAt: turn.now, deadlineAt: turn.now + limits.listingTimeoutMs, walk });
  turn.effects.push({ kind: 'send', id, text: dialect.encodePageRequest(id, walk.cursor) });
}
