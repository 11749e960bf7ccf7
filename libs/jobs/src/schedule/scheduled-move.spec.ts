import { describe, expect, it } from 'vitest';
import type { JobState } from '../job-types.js';
import { scheduledMove } from './scheduled-move.js';

const NOW = 1_000;
const job = (state: JobState, change: Partial<Parameters<typeof scheduledMove>[0]> = {}) => ({
  state,
  pauseReason: undefined,
  expiresAt: 2_000,
  startAt: undefined,
  ...change,
});
const open = { isOpen: true, until: 9_000 };
const closed = { isOpen: false, until: 9_000 };

describe('what the clock asks of a job', () => {
  it('starts it when its time has come, and not before', () => {
    expect(scheduledMove(job('SCHEDULED', { startAt: NOW + 1 }), undefined, NOW)).toBeUndefined();
    expect(scheduledMove(job('SCHEDULED', { startAt: NOW }), undefined, NOW)).toEqual({ trigger: 'start' });
    expect(scheduledMove(job('AWAITING_APPROVAL', { startAt: NOW }), undefined, NOW)).toBeUndefined();
  });

  it('ends it at its expiry, inside and outside its window', () => {
    for (const state of ['PREPARING', 'RUNNING', 'PAUSED'] as const)
      expect(scheduledMove(job(state, { expiresAt: NOW }), closed, NOW)).toEqual({ trigger: 'expire' });
    for (const state of ['AWAITING_APPROVAL', 'SCHEDULED'] as const)
      expect(scheduledMove(job(state, { expiresAt: NOW }), undefined, NOW)).toEqual({
        trigger: 'expire',
        conclusion: 'EXPIRED',
      });
    for (const state of ['CANCELLING', 'FINISHED'] as const)
      expect(scheduledMove(job(state, { expiresAt: NOW }), undefined, NOW)).toBeUndefined();
  });

  it('aborts it at its expiry where its health gate holds it', () => {
    const held = job('PAUSED', { expiresAt: NOW, pauseReason: 'HEALTH_GATE' });
    expect(scheduledMove(held, undefined, NOW)).toEqual({ trigger: 'expire', conclusion: 'ABORTED' });
  });

  it('lets it rest outside its window and go on within it', () => {
    expect(scheduledMove(job('RUNNING'), closed, NOW)).toEqual({ trigger: 'pause', pauseReason: 'WINDOW_CLOSED' });
    expect(scheduledMove(job('RUNNING'), open, NOW)).toBeUndefined();
    expect(scheduledMove(job('PAUSED', { pauseReason: 'WINDOW_CLOSED' }), closed, NOW)).toBeUndefined();
    expect(scheduledMove(job('PAUSED', { pauseReason: 'WINDOW_CLOSED' }), open, NOW)).toEqual({ trigger: 'resume' });
  });

  it('wakes no job that something else has paused', () => {
    for (const pauseReason of ['USER', 'WAVE_GATE', 'ABORT_RULE'] as const)
      expect(scheduledMove(job('PAUSED', { pauseReason }), open, NOW)).toBeUndefined();
  });
});
