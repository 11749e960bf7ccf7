import { describe, expect, it } from 'vitest';
import { futureTime, futureTimeOf, timeOf } from './time-option.js';

const now = Date.parse('2026-06-08T12:00:00Z');

describe('a time on the command line', () => {
  it.each([
    ['7d', '2026-06-01T12:00:00.000Z'],
    ['90m', '2026-06-08T10:30:00.000Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:30+02:00', '2026-01-31T06:00:30.000Z'],
    ['2026-01-31', new Date(2026, 0, 31).toISOString()],
  ])('%s is %s', (typed, time) => expect(timeOf('since', typed, now)).toBe(time));

  it.each(['yesterday', '2026-13-01', '2026-02-30', '2026-11-31T22:00', '7', ''])(
    'is rejected otherwise: "%s"',
    (typed) => expect(() => timeOf('since', typed, now)).toThrow('--since must be a time such as 12h'),
  );
});

describe('a time to come on the command line', () => {
  it.each([
    ['7d', '2026-06-15T12:00:00.000Z'],
    ['90m', '2026-06-08T13:30:00.000Z'],
    ['0s', '2026-06-08T12:00:00.000Z'],
    ['2026-12-31T08:00Z', '2026-12-31T08:00:00.000Z'],
  ])('%s is %s', (typed, time) => expect(futureTimeOf('until', typed, now)).toBe(time));

  it('can be left out', () => expect(futureTime('until', 'End').coerce(undefined)).toBeUndefined());
});
