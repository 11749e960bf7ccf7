import { describe, expect, it } from 'vitest';
import { fitsAddress, parseNewDesiredSearch } from './new-desired-search';

const macs = (count: number) =>
  Array.from({ length: count }, (_, index) => `02:00:00:00:00:${index.toString(16).padStart(2, '0')}`);

describe('the address of a new desired state', () => {
  it('carries a tool, its arguments and the devices', () => {
    const search = { tool: 'self.set_volume', arguments: { volume: 30 }, devices: { tags: ['lobby'] } };
    expect(parseNewDesiredSearch(search)).toEqual(search);
    expect(parseNewDesiredSearch({ tool: 7, arguments: 'loud', devices: null })).toEqual({});
  });

  it('takes a hundred devices, and not several hundred', () => {
    const search = { tool: 'self.set_volume', arguments: { volume: 30 } };
    expect(fitsAddress({ ...search, devices: { ids: macs(100) } })).toBe(true);
    expect(fitsAddress({ ...search, devices: { ids: macs(250) } })).toBe(false);
  });

  it('takes no long text as an argument', () => {
    expect(fitsAddress({ tool: 'self.show', arguments: { text: 'x'.repeat(8_000) } })).toBe(false);
  });
});
