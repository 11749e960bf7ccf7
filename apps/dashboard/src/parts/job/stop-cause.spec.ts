import { describe, expect, it } from 'vitest';
import { stopCause } from './stop-cause';

const running = {
  state: 'RUNNING',
  pauseReason: null,
  conclusion: null,
  trippedRule: null,
  healthGate: null,
  trippedHealthGate: null,
};
const paused = { ...running, state: 'PAUSED', pauseReason: 'ABORT_RULE', trippedRule: { action: 'PAUSE' } };
const cancels = { ...running, trippedRule: { action: 'CANCEL' } };
const unhealthy = { ...running, healthGate: { action: 'PAUSE' }, trippedHealthGate: { restarts: 9 } };

describe('a job that a rule has stopped', () => {
  it('is stopped for as long as it is paused by the rule', () => {
    expect(stopCause(paused)).toBe('ABORT_RULE');
    expect(stopCause({ ...paused, state: 'RUNNING', pauseReason: null })).toBeUndefined();
    expect(stopCause({ ...paused, pauseReason: 'USER' })).toBeUndefined();
    expect(stopCause({ ...paused, state: 'FINISHED', pauseReason: null, conclusion: 'PARTIAL' })).toBeUndefined();
  });

  it('stays stopped where the rule cancelled it', () => {
    expect(stopCause({ ...cancels, state: 'CANCELLING' })).toBe('ABORT_RULE');
    expect(stopCause({ ...cancels, state: 'FINISHED', conclusion: 'ABORTED' })).toBe('ABORT_RULE');
    expect(stopCause({ ...cancels, state: 'FINISHED', conclusion: 'CANCELLED' })).toBeUndefined();
  });

  it('is not one without a rule that tripped', () => {
    expect(stopCause({ ...paused, trippedRule: null })).toBeUndefined();
  });
});

describe('a job that its health gate has stopped', () => {
  it('is stopped by the gate, also where a rule paused it before', () => {
    const stopped = { ...unhealthy, state: 'PAUSED', pauseReason: 'HEALTH_GATE' };
    expect(stopCause(stopped)).toBe('HEALTH_GATE');
    expect(stopCause({ ...stopped, trippedRule: { action: 'PAUSE' } })).toBe('HEALTH_GATE');
    expect(stopCause({ ...stopped, pauseReason: 'ABORT_RULE', trippedRule: { action: 'PAUSE' } })).toBe('ABORT_RULE');
    expect(stopCause({ ...stopped, state: 'RUNNING', pauseReason: null })).toBeUndefined();
  });

  it('was ended by the gate, which cancelled it or held it until it expired', () => {
    const aborted = { ...unhealthy, state: 'FINISHED', conclusion: 'ABORTED' };
    expect(stopCause(aborted)).toBe('HEALTH_GATE');
    expect(stopCause({ ...aborted, trippedRule: { action: 'PAUSE' } })).toBe('HEALTH_GATE');
    expect(stopCause({ ...aborted, trippedRule: { action: 'CANCEL' } })).toBe('ABORT_RULE');
    expect(stopCause({ ...aborted, conclusion: 'CANCELLED' })).toBeUndefined();
  });

  it('is stopped by a gate that cancels before it has a conclusion', () => {
    const cancelling = { ...unhealthy, state: 'CANCELLING', healthGate: { action: 'CANCEL' } };
    expect(stopCause(cancelling)).toBe('HEALTH_GATE');
    expect(stopCause({ ...cancelling, trippedHealthGate: null })).toBeUndefined();
    expect(stopCause({ ...cancelling, healthGate: { action: 'PAUSE' } })).toBeUndefined();
  });
});
