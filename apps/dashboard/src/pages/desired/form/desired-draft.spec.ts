/** The form of a desired state keeps what is stored, and sends what was entered. */
import { describe, expect, it } from 'vitest';
import type { DesiredSeenFragment } from '../generated/desired';
import { draftFrom, draftOf, inputOf, isComplete } from './desired-draft';
import { parseNewDesiredSearch } from './new-desired-search';
import { conditionsIn } from '../../devices/stored-filter';

const summary = {
  targeted: 0,
  inSync: 0,
  applying: 0,
  retrying: 0,
  waitingDevice: 0,
  drifted: 0,
  held: 0,
  conflict: 0,
  unsupported: 0,
  overridden: 0,
  outOfWindow: 0,
  failed: 0,
  t50Seconds: null,
  t95Seconds: null,
  t99Seconds: null,
  oldestDriftAt: null,
};

const stored: DesiredSeenFragment = {
  id: '1',
  name: 'Quiet nights',
  tool: 'self.audio_speaker.set_volume',
  arguments: { volume: 30 },
  mode: 'ENFORCE',
  priority: 5,
  enabled: true,
  pausedReason: null,
  generation: 3,
  createdBy: 'key:ops',
  window: { from: '22:00', to: '07:00', zone: null, days: [1, 7] },
  devices: { tags: ['shop'], not: { any: [{ model: 'robot' }] } },
  onDrift: 'REVERT',
  holdSeconds: 900,
  maxInFlight: 50,
  perMinute: 600,
  rollout: null,
  summary,
  waves: [{ percent: 10 }, { percent: 100 }],
  abort: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  viewerMayChange: true,
  enableScopeMissing: null,
};

describe('the draft of a desired state', () => {
  it('sends a stored one back as it is, but not whether it applies: other people may disable it meanwhile', () => {
    expect(inputOf(draftOf(stored))).toEqual({
      name: 'Quiet nights',
      tool: 'self.audio_speaker.set_volume',
      arguments: { volume: 30 },
      devices: { tags: ['shop'], not: { any: [{ model: 'robot' }] } },
      mode: 'ENFORCE',
      onDrift: 'REVERT',
      holdSeconds: 900,
      priority: 5,
      enabled: null,
      window: { from: '22:00', to: '07:00', zone: null, days: [1, 7] },
      waves: [{ percent: 10 }, { percent: 100 }],
      abort: null,
      maxInFlight: 50,
      perMinute: 600,
    });
  });

  it('keeps a filter that the filter bar cannot show, and enables what the hub paused', () => {
    const devices = { not: { not: { not: { not: { not: { model: 'robot' } } } } } };
    const draft = draftOf({ ...stored, devices, enabled: false, pausedReason: 'KEY_REVOKED' });
    expect(isComplete(draft)).toBe(true);
    expect(inputOf(draft)).toMatchObject({ devices, enabled: true });
  });

  it('needs a tool, its arguments and devices', () => {
    const draft = draftFrom(parseNewDesiredSearch({ tool: 'a', arguments: { x: 1 }, devices: { ids: ['d'] } }));
    expect(isComplete(draft)).toBe(false);
    expect(isComplete({ ...draft, isSound: true })).toBe(true);
    expect(inputOf(draft)).toMatchObject({ devices: { ids: ['d'] }, arguments: { x: 1 }, waves: null });
    expect(draftFrom({ tool: 'a' }).arguments).toBeUndefined();
    const nowhere = { ...draftFrom({ tool: 'a' }), isSound: true };
    expect(isComplete(nowhere)).toBe(false);
    expect(inputOf({ ...nowhere, isWholeFleet: true }).devices).toEqual({ all: true });
  });

  it('rolls out in waves with a rule that stops', () => {
    const { waves, abort } = inputOf({ ...draftFrom({ tool: 'a' }), rollout: 'waves' });
    expect(waves?.map(({ percent }) => percent)).toEqual([5, 25, 100]);
    expect(abort).toHaveLength(1);
  });
});

describe('a stored filter', () => {
  it.each([
    [{ all: true }, {}],
    [{ tags: ['a'], model: null }, { tags: ['a'] }],
    [{ ids: ['x', 'y'] }, { ids: ['x', 'y'] }],
  ])('is shown in the filter bar: %j', (filter, conditions) => expect(conditionsIn(filter)).toEqual(conditions));

  it.each([{ unknown: 1 }, { not: { all: true } }, { tags: ['a'], any: [{}] }, null, 'x'])(
    'is not, if a part would be lost: %j',
    (filter) => expect(conditionsIn(filter)).toBeUndefined(),
  );
});
