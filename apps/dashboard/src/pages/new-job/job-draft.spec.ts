import { describe, expect, it } from 'vitest';
import { deviceFilterOf, draftFrom, hasWhat, hasWhom, inputOf } from './job-draft';

describe('the draft of a job', () => {
  it('begins with what the address carries, and with a canary for firmware', () => {
    expect(draftFrom({ ids: ['a'], tool: 'self.reboot' })).toMatchObject({ kind: 'tool', tool: 'self.reboot', ids: ['a'], waves: [] });
    expect(draftFrom({ firmwareImageId: 'x' })).toMatchObject({
      kind: 'firmware',
      waves: [{ percent: 5 }, { percent: 25 }, { percent: 100 }],
    });
  });

  it('does not mean the whole fleet unless that is said', () => {
    const draft = draftFrom({ tool: 'self.reboot' });
    expect(hasWhom(draft)).toBe(false);
    expect(hasWhom({ ...draft, isWholeFleet: true })).toBe(true);
    expect(deviceFilterOf(draft)).toEqual({ all: true });
    expect(hasWhom({ ...draft, devices: { model: 'otto' } })).toBe(true);
    expect(deviceFilterOf({ ids: ['a', 'b'], devices: { model: 'otto' } })).toEqual({ ids: ['a', 'b'] });
  });

  it('needs sound arguments', () => {
    expect(hasWhat({ ...draftFrom({ tool: 'x' }), isSound: false })).toBe(false);
    expect(hasWhat({ ...draftFrom({ tool: 'x' }), isSound: true })).toBe(true);
  });

  it('becomes the input of the API, in its units', () => {
    const draft = { ...draftFrom({ tool: 'x', devices: { tags: ['lobby'] } }), name: ' Night ', arguments: { volume: 3 }, perMinute: 60 };
    expect(inputOf({ ...draft, waves: [{ percent: 10, threshold: 90, soakSeconds: 5, gate: 'MANUAL' }] })).toEqual({
      ...{ name: 'Night', tool: 'x', arguments: { volume: 3 }, devices: { tags: ['lobby'] } },
      ...{ offline: 'WAIT', expiresInSeconds: 86_400, maxInFlight: 200, maxAttempts: 3, skipIfSatisfied: false, perMinute: 60 },
      waves: [{ percent: 10, successThreshold: 0.9, soakSeconds: 5, gate: 'MANUAL' }],
      abort: [{ outcomes: ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'], ratio: 0.2, action: 'PAUSE' }],
    });
  });
});
