import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextJobState } from './job-transitions.js';
import type { JobEvent } from './job-transitions.js';
import type { JobState } from './job-types.js';

const events: readonly JobEvent[] = ['prepared', 'pause', 'resume', 'cancel', 'expire', 'decided'];

describe('nextJobState', () => {
  it.each<[JobState, JobEvent, JobState | undefined]>([
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
  ])('%s with %s goes to %s', (state, event, expected) => {
    expect(nextJobState({ state, total: 10 }, event)).toBe(expected);
  });

  it('resumes preparing a job that was paused before its targets were counted', () => {
    expect(nextJobState({ state: 'PAUSED', total: undefined }, 'resume')).toBe('PREPARING');
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
