import { describe, expect, it } from 'vitest';
import { parseNewJobSearch } from './new-job-search';

describe('the address of a new job', () => {
  it('carries devices, a tool and an image', () => {
    const search = { devices: { model: 'otto' }, ids: ['a'], tool: 'self.reboot', firmwareImageId: 'x' };
    expect(parseNewJobSearch(search)).toEqual(search);
  });

  it('carries the step and the draft', () => {
    const search = { step: 'pace', draft: 'd0123456789abcd' };
    expect(parseNewJobSearch(search)).toEqual(search);
    expect(parseNewJobSearch({ step: 'nowhere', draft: '../x' })).toEqual({});
  });

  it('keeps only values of the right kind, as people edit addresses', () => {
    expect(parseNewJobSearch({ ids: ['a', 7, null], tool: 3, firmwareImageId: {}, devices: 'all' })).toEqual({
      ids: ['a'],
    });
    expect(parseNewJobSearch({ ids: [7] })).toEqual({});
    expect(parseNewJobSearch({ devices: null, ids: 'a' })).toEqual({});
  });
});
