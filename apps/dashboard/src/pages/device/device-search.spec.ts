import { describe, expect, it } from 'vitest';
import { parseDeviceTab } from './device-search';

describe('the address of a device', () => {
  it('carries the tab, the period of its charts, and the path of the large one', () => {
    const address = { tab: 'measurements', period: '7d', path: 'self.get_device_status:temperature' };
    expect(parseDeviceTab(address)).toEqual(address);
  });

  it('leaves out values that the page does not have', () => {
    expect(parseDeviceTab({ tab: 'none', period: '2d', path: 7, page: 3 })).toEqual({});
  });
});
