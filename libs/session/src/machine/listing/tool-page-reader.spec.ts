import type { ToolPage } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { defaultSessionLimits } from '../../session-limits.js';
import { handleMissingPage, addPage, emptyListing } from './tool-page-reader.js';
import type { ListingProgress, ListingStep } from './tool-page-reader.js';

const page = (names: string[], nextCursor?: string): ToolPage => ({
  tools: names.map((name) => ({ name, description: '', inputSchema: {}, userOnly: false })),
  nextCursor,
});

function nextListing(step: ListingStep): ListingProgress {
  if (step.kind !== 'next') throw new TypeError(`the listing has ended: ${JSON.stringify(step)}`);
  return step.listing;
}

const extend = (listing: ListingProgress, next: ToolPage, limits = {}) =>
  addPage(listing, next, { ...defaultSessionLimits, ...limits });
const listing = (...pages: ToolPage[]) => pages.reduce((sofar, next) => nextListing(extend(sofar, next)), emptyListing);
const namesOf = (step: ListingStep) => (step.kind === 'done' ? step.discovered.tools.map(({ name }) => name) : []);

describe('addPage', () => {
  it('ends complete on the page without a cursor, with the first of equal names', () => {
    const step = extend(listing(page(['a', 'b'], 'b')), page(['b', 'c']));
    expect(namesOf(step)).toEqual(['a', 'b', 'c']);
    expect(step).toMatchObject({ kind: 'done', discovered: { isComplete: true }, problem: undefined });
  });

  it.each([
    ['names its own cursor as the next one', listing(page(['a'], 'b')), page(['b'], 'b')],
    ['leads back to an earlier page', listing(page(['a'], 'b'), page(['b'], 'c')), page(['c'], 'b')],
    ['has a cursor too long for a request', listing(page(['a'], 'b')), page(['b'], '\0'.repeat(1025))],
    ['adds no new tool', listing(page(['a'], 'b')), page(['a'], 'c')],
  ])('ends incomplete when a page %s', (_, before, last) => {
    expect(extend(before, last)).toMatchObject({ kind: 'done', discovered: { isComplete: false } });
  });

  it('ends incomplete at the limits of pages and of tools', () => {
    expect(extend(listing(page(['a'], 'b')), page(['b'], 'c'), { toolPagesMax: 2 })).toMatchObject({
      discovered: { isComplete: false },
    });
    const step = extend(emptyListing, page(['a', 'b', 'c']), { toolsMax: 2 });
    expect(namesOf(step)).toEqual(['a', 'b']);
    expect(step).toMatchObject({ discovered: { isComplete: false } });
  });

  it('keeps the page objects, so that a cache recognises them', () => {
    const only = page(['a']);
    const step = extend(emptyListing, only);
    expect(step.kind === 'done' && step.discovered.pages[0]).toBe(only);
  });
});

describe('handleMissingPage', () => {
  it('fails if no page arrives at the second attempt either', () => {
    expect(handleMissingPage(nextListing(handleMissingPage(emptyListing, 'x')), 'x')).toEqual({ kind: 'failed' });
  });

  it('restarts once without a cursor, then keeps the longer listing', () => {
    const restarted = nextListing(handleMissingPage(listing(page(['a', 'b'], 'c')), 'x'));
    expect(restarted).toMatchObject({ cursor: undefined, pages: [] });
    expect(namesOf(handleMissingPage(restarted, 'x'))).toEqual(['a', 'b']);
    const longer = nextListing(extend(restarted, page(['a', 'b', 'c'], 'd')));
    expect(namesOf(handleMissingPage(longer, 'x'))).toEqual(['a', 'b', 'c']);
    expect(handleMissingPage(longer, 'why')).toMatchObject({ discovered: { isComplete: false }, problem: 'why' });
  });
});
