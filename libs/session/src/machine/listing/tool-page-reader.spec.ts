import type { ToolPage } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { defaultSessionLimits } from '../../session-limits.js';
import { breakWalk, extendWalk, firstWalk } from './tool-page-reader.js';
import type { ToolWalk, WalkStep } from './tool-page-reader.js';

const page = (names: string[], nextCursor?: string): ToolPage => ({
  tools: names.map((name) => ({ name, description: '', inputSchema: {}, userOnly: false })),
  nextCursor,
});

function walkOf(step: WalkStep): ToolWalk {
  if (step.kind !== 'next') throw new TypeError(`the walk ended: ${JSON.stringify(step)}`);
  return step.walk;
}

const extend = (walk: ToolWalk, next: ToolPage, limits = {}) =>
  extendWalk(walk, next, { ...defaultSessionLimits, ...limits });
const walk = (...pages: ToolPage[]) => pages.reduce((sofar, next) => walkOf(extend(sofar, next)), firstWalk);
const namesOf = (step: WalkStep) => (step.kind === 'done' ? step.discovered.tools.map(({ name }) => name) : []);

describe('extendWalk', () => {
  it('ends complete on the page without a cursor, with the first of equal names', () => {
    const step = extend(walk(page(['a', 'b'], 'b')), page(['b', 'c']));
    expect(namesOf(step)).toEqual(['a', 'b', 'c']);
    expect(step).toMatchObject({ kind: 'done', discovered: { isComplete: true }, problem: undefined });
  });

  it.each([
    ['names the cursor that it was asked with', walk(page(['a'], 'b')), page(['b'], 'b')],
    ['goes in a circle', walk(page(['a'], 'b'), page(['b'], 'c')), page(['c'], 'b')],
    ['brings nothing new', walk(page(['a'], 'b')), page(['a'], 'c')],
  ])('ends incomplete when a page %s', (_, before, last) => {
    expect(extend(before, last)).toMatchObject({ kind: 'done', discovered: { isComplete: false } });
  });

  it('ends incomplete at the limits of pages and of tools', () => {
    expect(extend(walk(page(['a'], 'b')), page(['b'], 'c'), { toolPagesMax: 2 })).toMatchObject({
      discovered: { isComplete: false },
    });
    const step = extend(firstWalk, page(['a', 'b', 'c']), { toolsMax: 2 });
    expect(namesOf(step)).toEqual(['a', 'b']);
    expect(step).toMatchObject({ discovered: { isComplete: false } });
  });

  it('keeps the very pages, so that their owner recognises them', () => {
    const only = page(['a']);
    const step = extend(firstWalk, only);
    expect(step.kind === 'done' && step.discovered.pages[0]).toBe(only);
  });
});

describe('breakWalk', () => {
  it('fails where there was no page the second time either', () => {
    expect(breakWalk(walkOf(breakWalk(firstWalk, 'x')), 'x')).toEqual({ kind: 'failed' });
  });

  it('begins again once without a cursor, then keeps the longer walk', () => {
    const restarted = walkOf(breakWalk(walk(page(['a', 'b'], 'c')), 'x'));
    expect(restarted).toMatchObject({ cursor: undefined, pages: [] });
    expect(namesOf(breakWalk(restarted, 'x'))).toEqual(['a', 'b']);
    const longer = walkOf(extend(restarted, page(['a', 'b', 'c'], 'd')));
    expect(namesOf(breakWalk(longer, 'x'))).toEqual(['a', 'b', 'c']);
    expect(breakWalk(longer, 'why')).toMatchObject({ discovered: { isComplete: false }, problem: 'why' });
  });
});
