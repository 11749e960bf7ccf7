import { describe, expect, it } from 'vitest';
import { parseJobSearch } from './job-search';

describe('the address of the list of jobs', () => {
  it('carries a search and which jobs to show', () => {
    expect(parseJobSearch({ search: 'night', show: 'live' })).toEqual({ search: 'night', show: 'live' });
  });

  it('reads a search of digits, which an address turns into a number', () => {
    expect(parseJobSearch({ search: 2026 })).toEqual({ search: '2026' });
  });

  it('leaves out values that the page does not have', () => {
    expect(parseJobSearch({ search: '', show: 'none', page: 3 })).toEqual({});
  });
});
