import { describe, expect, it } from 'vitest';
import { endOf, hasFailedSince, isFailing } from './attention-rules';

const noon = '2026-11-21T12:00:00.000Z';

describe('what needs attention', () => {
  it('are jobs that ended badly a short time ago', () => {
    const since = Date.parse(noon) - 1;
    expect(hasFailedSince({ conclusion: 'PARTIAL', finishedAt: noon }, since)).toBe(true);
    expect(hasFailedSince({ conclusion: 'PARTIAL', finishedAt: noon }, since + 1)).toBe(false);
    expect(hasFailedSince({ conclusion: 'CANCELLED', finishedAt: noon }, since)).toBe(false);
    expect(hasFailedSince({ conclusion: 'FAILED', finishedAt: null }, since)).toBe(false);
  });

  it('says what ended a job: an abort rule, its health gate or its image', () => {
    const aborted = {
      state: 'FINISHED',
      pauseReason: null,
      conclusion: 'ABORTED' as const,
      trippedRule: null,
      healthGate: { action: 'CANCEL' },
      trippedHealthGate: { at: noon },
    };
    expect(endOf(aborted)).toBe('UNHEALTHY');
    expect(endOf({ ...aborted, trippedRule: { action: 'CANCEL' } })).toBe('ABORTED');
    expect(endOf({ ...aborted, trippedHealthGate: null })).toBe('STOPPED');
    expect(endOf({ ...aborted, conclusion: 'FAILED' })).toBe('FAILED');
  });

  it('are webhooks that fail or were stopped, unless an operator disabled them', () => {
    expect(isFailing({ enabled: true, failingSince: noon, pausedAt: null })).toBe(true);
    expect(isFailing({ enabled: false, failingSince: noon, pausedAt: null })).toBe(false);
    expect(isFailing({ enabled: false, failingSince: noon, pausedAt: noon })).toBe(true);
    expect(isFailing({ enabled: true, failingSince: null, pausedAt: null })).toBe(false);
  });
});
