import { describe, expect, it } from 'vitest';
import { rerunOffer } from './rerun-offer.js';

describe('the offer to run a job again', () => {
  it('leaves out failures that would repeat, and counts the others', () => {
    expect(
      rerunOffer([
        { code: 'TIMEOUT', count: 3 },
        { code: undefined, count: 2 },
        { code: 'DEVICE_OFFLINE', count: 4 },
        { code: 'TOOL_UNKNOWN', count: 10 },
        { code: 'ARGUMENTS_INVALID', count: 1 },
      ]),
    ).toEqual({ count: 9, leftOutCount: 11, exceptCodes: ['TOOL_UNKNOWN', 'ARGUMENTS_INVALID'] });
  });

  it('is empty without failures', () => {
    expect(rerunOffer([])).toEqual({ count: 0, leftOutCount: 0, exceptCodes: [] });
  });
});
