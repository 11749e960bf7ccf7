import { describe, expect, it } from 'vitest';
import { matchingTexts, withPage } from './found-groups';

const texts = (...all: string[]) => all.map((text) => ({ text }));

describe('what the palette finds', () => {
  it('are texts with every word in any case, those that begin with the search first', () => {
    const found = matchingTexts(texts('New job', 'Jobs', 'Recurring jobs', 'Settings'), ' JOB ');
    expect(found.map(({ text }) => text)).toEqual(['Jobs', 'New job', 'Recurring jobs']);
    expect(matchingTexts(texts('Recurring jobs'), 'jobs rec')).toHaveLength(1);
    expect(matchingTexts(texts('a', 'b'), '')).toHaveLength(2);
  });

  it('are pages in order, without things that moved to a later one', () => {
    const first = withPage(undefined, { things: [{ id: '1', text: 'a' }], after: 'x' });
    const both = withPage(first, {
      things: [
        { id: '1', text: 'a' },
        { id: '2', text: 'b' },
      ],
      after: null,
    });
    expect(both).toEqual({
      things: [
        { id: '1', text: 'a' },
        { id: '2', text: 'b' },
      ],
      after: null,
    });
  });
});
