import { Kind } from 'graphql';
import { describe, expect, it } from 'vitest';
import { dateTimeScalar } from './date-time.scalar.js';

describe('DateTime', () => {
  it('shows milliseconds in UTC', () => {
    expect(dateTimeScalar.serialize(1_795_253_400_000)).toBe('2026-11-21T09:30:00.000Z');
  });

  it.each([
    ['2026-11-21T09:30:00Z', 1_795_253_400_000],
    ['2026-11-21T09:30:00.250Z', 1_795_253_400_250],
    ['2026-11-21T10:30:00+01:00', 1_795_253_400_000],
    ['2028-02-29T00:00:00z', Date.UTC(2028, 1, 29)],
  ])('takes %s', (text, at) => {
    expect(dateTimeScalar.parseValue(text)).toBe(at);
    expect(dateTimeScalar.parseLiteral({ kind: Kind.STRING, value: text })).toBe(at);
  });

  it.each([
    '2026-11-21',
    '2026-11-21T09:30:00',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-21T24:00:00Z',
    'now',
    '',
    1_795_253_400_000,
    null,
  ])('refuses %s', (value) => {
    expect(() => dateTimeScalar.parseValue(value)).toThrow('RFC 3339');
  });

  it.each(['9999-12-31T23:59:59-00:01', '0001-01-01T00:00:00+00:01'])('refuses %s: beyond the years of UTC', (text) => {
    expect(() => dateTimeScalar.parseValue(text)).toThrow('years 0001 to 9999');
  });

  it('takes the last moment that can be stored', () => {
    const last = '9999-12-31T23:59:59.999Z';
    expect(dateTimeScalar.serialize(dateTimeScalar.parseValue(last))).toBe(last);
  });
});
