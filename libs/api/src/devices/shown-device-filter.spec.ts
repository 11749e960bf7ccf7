import { scopedFilter } from '@flotilla/registry';
import type { DeviceFilter } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import type { Reader } from '../calls/shown-arguments.js';
import { shownDeviceFilter } from './shown-device-filter.js';

/** A reader who sees the device "a", or the whole fleet. */
const readerWith = (devices: DeviceFilter | undefined): Reader =>
  ({
    viewer: { devices },
    loaders: { device: { load: async (id: string) => (id === 'a' ? { id } : undefined) } },
  }) as unknown as Reader;
const scope = { tags: ['lab'] };

describe('shownDeviceFilter', () => {
  it.each([
    ['a limited key', scope],
    ['the whole fleet', undefined],
  ])('shows a reader with %s what the client gave, not the scope of the key that saved it', async (_, devices) => {
    for (const given of [{ all: true }, { any: [{ ids: ['a'] }, { model: 'esp-box' }] }, { not: { all: true } }])
      expect(await shownDeviceFilter(scopedFilter(given, scope), readerWith(devices))).toEqual(given);
  });

  it('shows no ids of other devices to a limited key', async () => {
    const stored = { any: [{ ids: ['a', 'b'] }] };
    expect(await shownDeviceFilter(stored, readerWith(scope))).toEqual({ any: [{ ids: ['a'] }] });
    expect(await shownDeviceFilter(stored, readerWith(undefined))).toEqual(stored);
  });
});
