import type { WaveSpec } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { refuseJobRequest, refuseStart } from './job-request.js';
import type { JobRequest } from './job-request.js';

const plain: JobRequest = { tool: 'self.lamp.turn_on', arguments: {}, devices: { all: true } };
const wave: WaveSpec = { percent: 10, successThreshold: 0.95, soakSeconds: 0, gate: 'AUTO' };
const rule = { outcomes: ['FAILED'], scope: 'JOB', ratio: 0.1, action: 'PAUSE' } as const;

describe('a request for a job', () => {
  it.each<[string, Partial<JobRequest>]>([
    ['nothing more', {}],
    [
      'waves by count and by percentage',
      { waves: [{ successThreshold: 0, soakSeconds: 0, gate: 'AUTO', count: 5 }, wave] },
    ],
    ['a canary and the rest', { waves: [{ successThreshold: 1, soakSeconds: 60, gate: 'MANUAL', count: 5 }] }],
    ['a rule of each kind', { abort: [rule, { outcomes: ['UNKNOWN'], scope: 'WAVE', count: 3, action: 'CANCEL' }] }],
    ['a window over midnight', { window: { from: '22:00', to: '06:00', zone: 'Europe/Berlin', days: [1, 7] } }],
    ['everything with a number', { perMinute: 1, maxAttempts: 10, priority: 3, maxInFlight: 1 }],
  ])('is taken with %s', (_, change) => {
    expect(refuseJobRequest({ ...plain, ...change })).toBeUndefined();
  });

  it.each<[string, unknown, readonly string[]]>([
    ['a wave with both sizes', { waves: [{ ...wave, count: 3 }] }, ['input', 'waves', '0']],
    [
      'a wave with neither',
      { waves: [{ successThreshold: 0.9, soakSeconds: 0, gate: 'AUTO' }] },
      ['input', 'waves', '0'],
    ],
    ['waves that do not rise', { waves: [wave, wave] }, ['input', 'waves']],
    [
      'more waves than there may be',
      { waves: Array.from({ length: 51 }, () => ({ ...wave, percent: undefined, count: 1 })) },
      ['input', 'waves'],
    ],
    ['a rule that never trips', { abort: [{ ...rule, ratio: undefined }] }, ['input', 'abort', '0']],
    [
      'a rule about successes',
      { abort: [{ ...rule, outcomes: ['SUCCEEDED'] }] },
      ['input', 'abort', '0', 'outcomes', '0'],
    ],
    ['a rule about nothing', { abort: [{ ...rule, outcomes: [] }] }, ['input', 'abort', '0', 'outcomes']],
    [
      'an hour that no clock shows',
      { window: { from: '24:00', to: '06:00', zone: 'UTC' } },
      ['input', 'window', 'from'],
    ],
    [
      'a zone that does not exist',
      { window: { from: '22:00', to: '06:00', zone: 'Mars/Olympus' } },
      ['input', 'window', 'zone'],
    ],
    ['an empty window', { window: { from: '22:00', to: '22:00', zone: 'UTC' } }, ['input', 'window']],
    ['too many attempts', { maxAttempts: 11 }, ['input', 'maxAttempts']],
    ['no pace at all', { perMinute: 0 }, ['input', 'perMinute']],
  ])('is refused with %s, naming the place', (_, change, path) => {
    const refusal = refuseJobRequest({ ...plain, ...(change as Partial<JobRequest>) });
    expect(refusal?.path).toEqual(path);
    expect(refusal?.message).not.toBe('');
  });

  it.each<[string, unknown, string]>([
    ['a number', { maxInFlight: 0 }, '"maxInFlight" is at least 1.'],
    ['a number that is too large', { priority: 9 }, '"priority" is at most 3.'],
    ['a share', { abort: [{ ...rule, ratio: 0 }] }, '"ratio" is more than 0.'],
    ['text', { name: 'n'.repeat(201) }, '"name" has at most 200 characters.'],
    ['a list', { abort: [{ ...rule, outcomes: [] }] }, '"outcomes" has at least 1 entries.'],
    ['an entry of a list', { window: { from: '01:00', to: '02:00', zone: 'UTC', days: [8] } }, '"days" is at most 7.'],
  ])('is refused with a message that names the field: %s', (_what, change, message) => {
    expect(refuseJobRequest({ ...plain, ...(change as Partial<JobRequest>) })?.message).toBe(message);
  });

  it('starts in the future, and within a year', () => {
    expect(refuseStart({ ...plain, startAt: 1_000 }, 1_000)?.code).toBe('INVALID');
    expect(refuseStart({ ...plain, startAt: 1_001 }, 1_000)).toBeUndefined();
    expect(refuseStart({ ...plain, startAt: 400 * 86_400_000 }, 0)?.code).toBe('LIMIT_EXCEEDED');
  });
});
