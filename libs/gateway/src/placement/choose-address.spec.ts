import { describe, expect, it } from 'vitest';
import { chooseAddress } from './choose-address.js';

const DEVICES = 4_000;
const keys = Array.from({ length: DEVICES }, (_, index) => `02:00:00:00:${index >> 8}:${index & 255}`);
const east = { endpoint: 'east:8883', weight: 1 };
const west = { endpoint: 'west:8883', weight: 1 };
const large = { endpoint: 'large:8883', weight: 2 };

const choices = (addresses: Parameters<typeof chooseAddress>[0]) => keys.map((key) => chooseAddress(addresses, key));
const shareOf = (endpoint: string, of: readonly (string | undefined)[]) =>
  of.filter((chosen) => chosen === endpoint).length / DEVICES;

describe('the address of a device', () => {
  it('is the only one, or none', () => {
    expect(chooseAddress([east], 'a')).toBe(east.endpoint);
    expect(chooseAddress([], 'a')).toBeUndefined();
  });

  it('follows the weights over many devices', () => {
    const chosen = choices([east, west, large]);
    expect(shareOf(east.endpoint, chosen)).toBeCloseTo(0.25, 1);
    expect(shareOf(west.endpoint, chosen)).toBeCloseTo(0.25, 1);
    expect(shareOf(large.endpoint, chosen)).toBeCloseTo(0.5, 1);
  });

  it('does not depend on the order of the list', () => {
    expect(choices([large, west, east])).toEqual(choices([east, west, large]));
  });

  it('stays for all devices but those of an address that is lost', () => {
    const before = choices([east, west, large]);
    const after = choices([east, large]);
    const moved = keys.filter((_, index) => before[index] !== after[index]);
    expect(moved).toEqual(keys.filter((_, index) => before[index] === west.endpoint));
  });
});
