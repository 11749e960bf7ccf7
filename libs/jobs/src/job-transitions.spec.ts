import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextJobState } from './job-transitions.js';
import type { JobTrigger } from './job-transitions.js';
import type { JobState } from './job-types.js';

const events: readonly JobTrigger[] = [
  'approve',
  'deny',
  'start',
  'prepared',
  'pause',
  'resume',
  'cancel',
  'expire',
  'decided',
];

describe('nextJobState', () => {
  it.each<[JobState, JobTrigger, JobState | undefined]>([
    ['PREPARING', 'prepared', 'RUNNING'],
    ['RUNNING', 'pause', 'PAUSED'],
    ['PAUSED', 'pause', undefined],
    ['PAUSED', 'resume', 'RUNNING'],
    ['RUNNING', 'resume', undefined],
    ['PAUSED', 'cancel', 'CANCELLING'],
    ['CANCELLING', 'cancel', undefined],
    ['CANCELLING', 'pause', undefined],
    ['FINISHED', 'cancel', undefined],
    ['RUNNING', 'expire', 'CANCELLING'],
    ['SCHEDULED', 'cancel', 'CANCELLING'],
    ['SCHEDULED', 'start', 'PREPARING'],
    ['SCHEDULED', 'pause', undefined],
    ['PREPARING', 'start', undefined],
    ['AWAITING_APPROVAL', 'approve', 'PREPARING'],
    ['AWAITING_APPROVAL', 'deny', 'FINISHED'],
    ['AWAITING_APPROVAL', 'cancel', 'CANCELLING'],
    ['AWAITING_APPROVAL', 'start', undefined],
    ['RUNNING', 'approve', undefined],
    ['FINISHED', 'deny', undefined],
  ])('%s with %s goes to %s', (state, event, expected) => {
    expect(nextJobState({ state, total: 10 }, event)).toBe(expected);
  });

  it('resumes preparing a job that was paused before its targets were counted', () => {
    expect(nextJobState({ state: 'PAUSED', total: undefined }, 'resume')).toBe('PREPARING');
  });

  it('has an approved job wait for its start', () => {
    expect(nextJobState({ state: 'AWAITING_APPROVAL', total: undefined, startAt: 1 }, 'approve')).toBe('SCHEDULED');
  });

  it('changes nothing when any event comes twice, and never leaves FINISHED', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events)), (road) => {
        let state: JobState = 'PREPARING';
        for (const event of road) {
          const before = state;
          state = nextJobState({ state, total: 1 }, event) ?? state;
          if (before === 'FINISHED') expect(state).toBe('FINISHED');
          expect(nextJobState({ state, total: 1 }, event) ?? state).toBe(state);
        }
      }),
    );
  });

  it('never runs again once it is being cancelled', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events)), (road) => {
        let state: JobState = 'CANCELLING';
        for (const event of road) state = nextJobState({ state, total: 1 }, event) ?? state;
        expect(['CANCELLING', 'FINISHED']).toContain(state);
      }),
    );
  });
});
