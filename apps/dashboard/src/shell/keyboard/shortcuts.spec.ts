import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { navigation } from '../navigation';
import {
  nextRow,
  pageKeys,
  pageKeysFor,
  type PressedKey,
  readKey,
  sequenceMs,
  type StartedSequence,
} from './shortcuts';

const press = (key: string, at = 0, more: Partial<PressedKey> = {}): PressedKey => ({
  key,
  at,
  hasControl: false,
  hasAlt: false,
  ...more,
});

describe('keyboard shortcuts', () => {
  it('open the palette with Control and K, in any case, also within a sequence', () => {
    for (const key of ['k', 'K'])
      expect(readKey({ startedAt: 0 }, press(key, 1, { hasControl: true }))).toEqual({ act: { is: 'palette' } });
  });

  it('go to a page with g and its key in time', () => {
    const { started } = readKey(undefined, press('g', 100));
    expect(readKey(started, press('d', 100 + sequenceMs))).toEqual({ act: { is: 'go', page: 'devices' } });
    expect(readKey(started, press('d', 101 + sequenceMs))).toEqual({});
    expect(readKey(started, press('j', 200))).toEqual({ act: { is: 'go', page: 'jobs' } });
    expect(readKey(undefined, press('j', 200))).toEqual({ act: { is: 'move', by: 1 } });
  });

  it('end a sequence with a key that no page has', () => {
    expect(readKey({ startedAt: 0 }, press('z', 1))).toEqual({});
    expect(readKey({ startedAt: 0 }, press('constructor', 1))).toEqual({});
  });

  it('leave keys with other modifiers alone, and do one thing at most', () => {
    const keys = fc.record({
      key: fc.oneof(fc.constantFrom('g', 'd', 'j', 'k', '/', '?', 'Enter', 'Tab', 'toString'), fc.string()),
      at: fc.nat(10_000),
      hasControl: fc.boolean(),
      hasAlt: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 20 }), (pressed) => {
        let started: StartedSequence | undefined;
        for (const key of pressed) {
          const read = readKey(started, key);
          started = read.started;
          expect(Object.keys(read).length).toBeLessThanOrEqual(1);
          if (key.hasAlt || (key.hasControl && key.key.toLowerCase() !== 'k')) expect(read).toEqual({});
        }
      }),
      { seed: 18, numRuns: 300 },
    );
  });

  it('have each page of the navigation once', () => {
    expect(Object.values<string>(pageKeys).sort()).toEqual(navigation.map(({ name }) => name).sort());
  });

  it('list only the pages that the viewer may open', () => {
    expect(pageKeysFor({ scopes: ['ADMIN'], devices: null })).toHaveLength(navigation.length);
    const limited = pageKeysFor({ scopes: ['ADMIN'], devices: { tags: ['lobby'] } }).map(({ page }) => page);
    expect(limited).toHaveLength(navigation.filter(({ scope }) => scope !== 'ADMIN').length);
    expect(pageKeysFor({ scopes: ['EVENTS_READ'], devices: null })).toEqual([
      { key: 'l', page: 'alerts' },
      { key: 'e', page: 'events' },
    ]);
  });

  it('move within a list and stop at its ends', () => {
    expect([nextRow(0, -1, 1), nextRow(3, -1, 1), nextRow(3, -1, -1)]).toEqual([undefined, 0, 0]);
    expect([nextRow(3, 1, 1), nextRow(3, 2, 1), nextRow(3, 0, -1)]).toEqual([2, 2, 0]);
  });
});
