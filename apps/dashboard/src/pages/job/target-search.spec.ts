import { describe, expect, it } from 'vitest';
import { parseTargetSearch } from './target-search';

describe('the address of a job', () => {
  it('carries the outcomes whose targets are shown, in one order', () => {
    expect(parseTargetSearch({ outcomes: ['UNKNOWN', 'FAILED'] })).toEqual({ outcomes: ['FAILED', 'UNKNOWN'] });
  });

  it('leaves out values that the page does not have', () => {
    expect(parseTargetSearch({ outcomes: ['LOST', 7], page: 3 })).toEqual({});
    expect(parseTargetSearch({ outcomes: 'FAILED' })).toEqual({});
  });
});
