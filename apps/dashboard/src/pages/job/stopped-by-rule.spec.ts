import { describe, expect, it } from 'vitest';
import { isStoppedByRule } from './stopped-by-rule';

const paused = {
  state: 'PAUSED',
  pauseReason: 'ABORT_RULE',
  conclusion: null,
  trippedRule: { action: 'PAUSE' },
} as const;
const cancels = { ...paused, pauseReason: null, trippedRule: { action: 'CANCEL' } } as const;

describe('a job that a rule has stopped', () => {
  it('is stopped for as long as it is paused by the rule', () => {
    expect(isStoppedByRule(paused)).toBe(true);
    expect(isStoppedByRule({ ...paused, state: 'RUNNING', pauseReason: null })).toBe(false);
    expect(isStoppedByRule({ ...paused, pauseReason: 'USER' })).toBe(false);
    expect(isStoppedByRule({ ...paused, state: 'FINISHED', pauseReason: null, conclusion: 'PARTIAL' })).toBe(false);
  });

  it('stays stopped where the rule cancelled it', () => {
    expect(isStoppedByRule({ ...cancels, state: 'CANCELLING' })).toBe(true);
    expect(isStoppedByRule({ ...cancels, state: 'FINISHED', conclusion: 'ABORTED' })).toBe(true);
    expect(isStoppedByRule({ ...cancels, state: 'FINISHED', conclusion: 'CANCELLED' })).toBe(false);
  });

  it('is not one without a rule that tripped', () => {
    expect(isStoppedByRule({ ...paused, trippedRule: null })).toBe(false);
  });
});
