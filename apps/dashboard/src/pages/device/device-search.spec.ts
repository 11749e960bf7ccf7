import { describe, expect, it } from 'vitest';
import { parseDeviceTab } from './device-search';

describe('the address of a device', () => {
  it('carries the tab and the period of its charts', () => {
    expect(parseDeviceTab({ tab: 'measurements', period: '7d' })).toEqual({ tab: 'measurements', period: '7d' });
  });

  it('leaves out values that the page does not have', () => {
    expect(parseDeviceTab({ tab: 'none', period: '2d', page: 3 })).toEqual({});
  });
});
