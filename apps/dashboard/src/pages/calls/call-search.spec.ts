import { describe, expect, it } from 'vitest';
import { callFileOf, callFilterOf, parseCallSearch } from './call-search';

const now = Date.parse('2026-03-04T12:00:00Z');

describe('the address of the Calls page', () => {
  it('keeps known conditions and drops everything else', () => {
    const given = { tool: 'self.screen.set_theme', outcomes: ['FAILED', 'BROKEN', 'UNKNOWN'], hours: 24, page: 3 };
    expect(parseCallSearch(given)).toEqual({
      tool: 'self.screen.set_theme',
      outcomes: ['FAILED', 'UNKNOWN'],
      hours: 24,
    });
    expect(parseCallSearch({ tool: '', device: {}, outcomes: 'NOTHING', hours: 2 })).toEqual({});
  });

  it('takes one outcome, and ids that look like numbers', () => {
    expect(parseCallSearch({ outcomes: 'REJECTED', device: 12, hours: '168' })).toEqual({
      outcomes: ['REJECTED'],
      device: '12',
      hours: 168,
    });
  });

  it('becomes a filter of the API', () => {
    expect(callFilterOf({}, now)).toEqual({});
    expect(callFilterOf({ device: 'board', outcomes: ['FAILED'], hours: 24 }, now)).toEqual({
      deviceId: 'board',
      outcomes: ['FAILED'],
      since: '2026-03-03T12:00:00.000Z',
    });
  });

  it('becomes the address of a file', () => {
    expect(callFileOf({}, now)).toBe('/api/calls.csv');
    expect(callFileOf({ device: 'a b', outcomes: ['FAILED', 'UNKNOWN'], hours: 1 }, now)).toBe(
      '/api/calls.csv?deviceId=a+b&since=2026-03-04T11%3A00%3A00.000Z&outcome=FAILED&outcome=UNKNOWN',
    );
  });
});
