import { describe, expect, it } from 'vitest';
import { parseShownSearch } from './shown-search';

describe('the address of a desired state', () => {
  it('carries which of its devices are shown', () => {
    expect(parseShownSearch({ show: 'DRIFTED' })).toEqual({ show: 'DRIFTED' });
    expect(parseShownSearch({ show: 'all' })).toEqual({ show: 'all' });
  });

  it('leaves out values that the page does not have', () => {
    expect(parseShownSearch({ show: 'out' })).toEqual({});
    expect(parseShownSearch({ show: ['DRIFTED'], page: 3 })).toEqual({});
  });
});
