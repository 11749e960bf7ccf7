/** Previews and summaries of desired states are sentences. */
import { describe, expect, it } from 'vitest';
import { countsText, desiredPreviewInWords, outOfSyncOf, targetColumns, windowText } from './desired-words.js';

const preview = {
  targetCount: 245,
  inSyncCount: 200,
  changeCount: 40,
  unsupportedCount: 4,
  unknownCount: 1,
  conflicts: [{ id: '1', name: 'Loud days' }],
  sample: [{ id: 'd1' }, { id: 'd2' }],
  userErrors: [],
};
const summary = {
  targeted: 9,
  inSync: 3,
  applying: 0,
  retrying: 0,
  waitingDevice: 2,
  drifted: 0,
  held: 1,
  conflict: 0,
  unsupported: 1,
  overridden: 0,
  outOfWindow: 2,
  failed: 0,
  t50Seconds: 1.2,
  t95Seconds: null,
  t99Seconds: null,
  oldestDriftAt: null,
};

describe('desired states in words', () => {
  it('say what saving would do, with conflicts by name', () => {
    expect(desiredPreviewInWords(preview)).toEqual([
      'It covers 245 devices: 200 in sync already, 40 would change.',
      'The value of 1 device is not known yet.',
      '4 devices without this tool or with another schema stay as is.',
      'Would change: d1, d2',
      'Conflict: "Loud days" wants another value with equal priority. Nothing is sent to the devices that both ' +
        'cover. Choose another --priority.',
    ]);
    expect(desiredPreviewInWords({ ...preview, targetCount: 0 })).toEqual([
      'The filter matches no devices now. Devices that match later are covered.',
    ]);
  });

  it('count devices by state', () => {
    expect(countsText(summary)).toBe('in sync 3, waiting device 2, held 1, unsupported 1, out of window 2');
    expect(outOfSyncOf(summary)).toBe(3);
  });

  it('say why a device is in its state, also one that no roll-out has reached', () => {
    const why = targetColumns.find((column) => typeof column === 'object' && column.key === 'why');
    const target = {
      device: { id: 'd1', name: null },
      since: '2026-11-01T00:00:00Z',
      attempts: 0,
      nextTryAt: null,
      desired: 30,
      reported: null,
      reportedAt: null,
      error: null,
      blockedBy: [{ id: '1', name: 'Loud days' }],
    };
    const whyOf = (state: 'APPLYING' | 'OVERRIDDEN', observedGeneration: number, blockedBy = target.blockedBy) =>
      typeof why === 'object' && why.of?.({ ...target, state, observedGeneration, blockedBy });
    expect(whyOf('OVERRIDDEN', 1)).toBe('Loud days');
    expect(whyOf('APPLYING', 1, [])).toBeUndefined();
    expect(whyOf('APPLYING', 0, [])).toBe('The roll-out has not reached it.');
  });

  it('write windows with their zone', () => {
    expect(windowText({ window: null })).toBe('always');
    const window = { from: '22:00', to: '07:00', zone: null, days: [1, 5] };
    expect(windowText({ window })).toBe('22:00-07:00 on days 1,5 (zone of each device)');
  });
});
