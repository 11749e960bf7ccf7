import { describe, expect, it } from 'vitest';
import { parseEventFilter } from './event-filter-input.js';

describe('a filter of events', () => {
  it('has what was given', () => {
    expect(parseEventFilter({ types: ['device.*'], exceptTypes: null, since: 5 })).toEqual({
      types: ['device.*'],
      since: 5,
    });
    expect(parseEventFilter(null)).toEqual({});
  });

  it.each(['types', 'exceptTypes'] as const)('has at most 100 %s: each event is compared with all', (name) => {
    const listOf = (length: number) => ({ [name]: Array.from({ length }, () => 'device.*') });
    expect(parseEventFilter(listOf(100))[name]).toHaveLength(100);
    expect(() => parseEventFilter(listOf(101))).toThrow(`"${name}" of an event filter takes at most 100, but has 101.`);
  });
});
