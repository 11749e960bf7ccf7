import { describe, expect, it } from 'vitest';
import {
  canaryWaves,
  changedDraft,
  chosenConditions,
  deviceFilterOf,
  draftFrom,
  type JobDraft,
  hasWhom,
  kindsFor,
  missingIn,
  ofKind,
  onlyWithTool,
  reachableStep,
  usualRule,
  withTool,
} from './job-draft';
import { inputOf } from './job-input';
import { steps } from './job-steps';

describe('the draft of a job', () => {
  it('begins with what the address carries, and with a canary for firmware', () => {
    expect(draftFrom({ ids: ['a'], tool: 'self.reboot' })).toMatchObject({
      kind: 'tool',
      tool: 'self.reboot',
      ids: ['a'],
      waves: [],
    });
    expect(draftFrom({ firmwareImageId: 'x' })).toMatchObject({
      kind: 'firmware',
      waves: [{ size: 5, gate: 'MANUAL' }, { size: 25 }, { size: 100 }],
    });
  });

  it('begins with a roll-out for a person who may start nothing else', () => {
    const may = { tool: false, firmware: true };
    expect(draftFrom({}, may)).toMatchObject({ kind: 'firmware', waves: [{ size: 5 }, { size: 25 }, { size: 100 }] });
    expect(draftFrom({ tool: 'self.reboot' }, may).kind).toBe('tool');
    expect(draftFrom({}, { tool: true, firmware: true }).kind).toBe('tool');
  });

  it('keeps the key of an attempt to start it until it is changed', () => {
    const tried = changedDraft(draftFrom({ tool: 'self.reboot' }), { startKey: 'k' });
    expect(tried.startKey).toBe('k');
    expect(changedDraft(tried, { name: 'Other' })).toMatchObject({ name: 'Other', startKey: undefined });
  });

  it('replaces untouched waves and rules when the kind changes', () => {
    const draft = draftFrom({});
    const firmware = { ...draft, ...ofKind(draft, 'firmware') };
    expect(firmware.waves).toHaveLength(3);
    expect(firmware.rules).toHaveLength(2);
    expect({ ...firmware, ...ofKind(firmware, 'tool') }).toEqual(draft);
    const touched = { ...draft, rules: [{ ...usualRule, percent: 50 }] };
    expect({ ...touched, ...ofKind(touched, 'firmware') }).toMatchObject({
      rules: touched.rules,
      waves: firmware.waves,
    });
  });

  it('does not mean the whole fleet unless that is said', () => {
    const draft = draftFrom({ tool: 'self.reboot' });
    expect(hasWhom(draft)).toBe(false);
    expect(missingIn('whom', draft)).toBe('devices');
    expect(missingIn('whom', { ...draft, isWholeFleet: true })).toBeUndefined();
    expect(deviceFilterOf(draft)).toEqual({ all: true });
    expect(hasWhom({ ...draft, devices: { model: 'otto' } })).toBe(true);
    expect(deviceFilterOf({ ids: ['a', 'b'], devices: { model: 'otto' } })).toEqual({ ids: ['a', 'b'] });
  });

  it('can be for the devices with the tool only, chosen by filter or one by one', () => {
    const only = (draft: JobDraft) => deviceFilterOf({ ...draft, ...onlyWithTool(draft) });
    const draft = draftFrom({ tool: 'x', devices: { tags: ['lobby'] } });
    expect(only(draft)).toEqual({ tags: ['lobby'], hasTool: 'x' });
    expect(only({ ...draft, devices: {}, isWholeFleet: true })).toEqual({ hasTool: 'x' });
    expect(only({ ...draft, ids: ['a'] })).toEqual({ ids: ['a'], hasTool: 'x' });
    expect(only({ ...draft, devices: { hasTool: 'y' } })).toEqual({
      hasTool: 'y',
      not: { any: [{ not: { hasTool: 'x' } }] },
    });
    expect(onlyWithTool({ ...draft, devices: { hasTool: 'x' } })).toEqual({});
  });

  it('hands its devices on with the condition that they have the tool', () => {
    const draft = { ...draftFrom({ tool: 'x', ids: ['a', 'b'] }), devices: { hasTool: 'x', tags: ['lobby'] } };
    expect(chosenConditions(draft)).toEqual({ ids: ['a', 'b'], hasTool: 'x' });
    expect(chosenConditions({ ...draft, ids: undefined })).toEqual({ hasTool: 'x', tags: ['lobby'] });
  });

  it('drops the condition of a tool with the tool', () => {
    const draft = draftFrom({ tool: 'x', devices: { tags: ['lobby'], hasTool: 'x' } });
    expect({ ...draft, ...withTool(draft, 'y') }).toMatchObject({ tool: 'y', devices: { tags: ['lobby'] } });
    expect(withTool(draft, 'y').devices).not.toHaveProperty('hasTool');
    expect(withTool({ ...draft, tool: 'z' }, 'y')).not.toHaveProperty('devices');
  });

  it('has no arguments before the form of its tool has begun, also after another choice', () => {
    const draft = { ...draftFrom({ tool: 'x' }), arguments: {}, isSound: true };
    expect(draftFrom({ tool: 'x' }).arguments).toBeUndefined();
    expect({ ...draft, ...withTool(draft, 'y') }.arguments).toBeUndefined();
    expect(inputOf(draftFrom({ tool: 'x' })).arguments).toEqual({});
  });

  it('leaves behind what only the form of the former tool shows', () => {
    const draft = { ...draftFrom({ tool: 'x' }), skipIfSatisfied: true, callTimeoutSeconds: 5, maxAttempts: 9 };
    expect(inputOf({ ...draft, ...withTool(draft, 'y') })).toMatchObject({ tool: 'y', skipIfSatisfied: false });
    const rollOut = inputOf({ ...draft, ...ofKind(draft, 'firmware'), firmwareImageId: 'i' });
    expect(rollOut).toMatchObject({ firmwareImageId: 'i' });
    for (const name of ['skipIfSatisfied', 'callTimeoutMs', 'maxAttempts']) expect(rollOut).not.toHaveProperty(name);
  });

  it('offers each kind to those who may start it, and where it is chosen already', () => {
    expect(kindsFor('tool', { tool: true, firmware: true })).toEqual(['tool', 'firmware']);
    expect(kindsFor('tool', { tool: true, firmware: false })).toEqual(['tool']);
    expect(kindsFor('firmware', { tool: true, firmware: false })).toEqual(['tool', 'firmware']);
    expect(kindsFor('firmware', { tool: false, firmware: true })).toEqual(['firmware']);
    expect(kindsFor('tool', { tool: false, firmware: true })).toEqual(['tool', 'firmware']);
  });

  it('says what a step lacks', () => {
    const draft = draftFrom({ tool: 'x' });
    expect(missingIn('what', draftFrom({}))).toBe('tool');
    expect(missingIn('what', draft)).toBe('arguments');
    expect(missingIn('what', { ...draft, isSound: true })).toBeUndefined();
    expect(missingIn('what', { ...draft, kind: 'firmware' })).toBe('image');
    expect(missingIn('pace', { ...draft, startAt: '' })).toBe('start');
    expect(missingIn('stop', { ...draft, rules: [] })).toBeUndefined();
    expect(missingIn('stop', { ...draft, rules: [{ ...usualRule, outcomes: [] }] })).toBe('outcomes');
    expect(missingIn('stop', { ...draft, rules: [{ ...usualRule, percent: undefined }] })).toBe('bound');
  });

  it('shows no step of an address before those that come first are complete', () => {
    const draft = draftFrom({ tool: 'x' });
    expect(reachableStep('check', draft)).toBe('what');
    expect(reachableStep('check', { ...draft, isSound: true })).toBe('whom');
    const complete = { ...draft, isSound: true, isWholeFleet: true };
    for (const step of steps) expect(reachableStep(step, complete)).toBe(step);
  });

  it('is the same for a kept copy: untouched waves follow the kind', () => {
    const copy = JSON.parse(JSON.stringify(draftFrom({}))) as JobDraft;
    expect({ ...copy, ...ofKind(copy, 'firmware') }).toMatchObject({ waves: canaryWaves });
  });

  it('becomes the input of the API, in its units', () => {
    const draft = {
      ...draftFrom({ tool: 'x', devices: { tags: ['lobby'] } }),
      name: ' Night ',
      arguments: { volume: 3 },
      perMinute: 60,
    };
    expect(
      inputOf({ ...draft, waves: [{ unit: 'percent', size: 10, threshold: 90, soakSeconds: 5, gate: 'MANUAL' }] }),
    ).toEqual({
      name: 'Night',
      tool: 'x',
      arguments: { volume: 3 },
      devices: { tags: ['lobby'] },
      offline: 'WAIT',
      expiresInSeconds: 86_400,
      maxInFlight: 200,
      maxAttempts: 3,
      skipIfSatisfied: false,
      perMinute: 60,
      priority: 2,
      waves: [{ percent: 10, successThreshold: 0.9, soakSeconds: 5, gate: 'MANUAL' }],
      abort: [
        { outcomes: ['FAILED', 'REJECTED', 'VERIFY_FAILED', 'UNKNOWN'], ratio: 0.2, scope: 'JOB', action: 'PAUSE' },
      ],
    });
  });

  it('says what is rarely said only where it was', () => {
    const window = { from: '22:00', to: '06:00', zone: 'Asia/Shanghai', days: [5, 1] };
    const rule = {
      ...usualRule,
      outcomes: ['UNKNOWN'] as const,
      percent: undefined,
      count: 3,
      minDecided: 5,
      scope: 'WAVE' as const,
    };
    const input = inputOf({
      ...draftFrom({ tool: 'x' }),
      verification: 'READBACK',
      callTimeoutSeconds: 2.5,
      startAt: '2030-01-01T08:00',
      window,
      waves: [{ unit: 'count', size: 7, threshold: 95, soakSeconds: 0, gate: 'AUTO' }],
      rules: [rule],
    });
    expect(input).toMatchObject({
      verification: 'READBACK',
      callTimeoutMs: 2_500,
      startAt: new Date('2030-01-01T08:00').toISOString(),
      window: { ...window, days: [1, 5] },
      waves: [{ count: 7, successThreshold: 0.95 }],
      abort: [{ outcomes: ['UNKNOWN'], count: 3, minDecided: 5, scope: 'WAVE', action: 'PAUSE' }],
    });
    expect(inputOf({ ...draftFrom({ firmwareImageId: 'i' }), rules: [] })).toMatchObject({
      firmwareImageId: 'i',
      abort: [],
    });
  });
});
