import { describe, expect, it } from 'vitest';
import yargs from 'yargs';
import { deviceFilter, requiredDeviceFilter, withDevices } from './device-filter.js';

/** The filter of a typed command line. */
function filterOf(...typed: readonly string[]) {
  return requiredDeviceFilter(withDevices(yargs(typed)).exitProcess(false).parseSync());
}

describe('the options that select devices', () => {
  it('become the filter of the API', () => {
    expect(filterOf('--tag', 'a', '--tag', 'b', '--online', '--model', 'board', '--firmware-before', '2.0')).toEqual({
      presence: 'ONLINE',
      tags: ['a', 'b'],
      model: 'board',
      firmwareBefore: '2.0',
    });
    expect(filterOf('--no-online', '--has-tool', 't', '--group', 'g', '--search', 's', '--device', 'd')).toEqual({
      presence: 'OFFLINE',
      hasTool: 't',
      groupId: 'g',
      search: 's',
      ids: ['d'],
    });
  });

  it('take other filters as JSON, which wins', () => {
    expect(filterOf('--model', 'a', '--filter', '{"model":"b","not":{"tags":["x"]}}')).toEqual({
      model: 'b',
      not: { tags: ['x'] },
    });
    expect(() => filterOf('--filter', '[]')).toThrow('--filter: expected a JSON object.');
  });

  it('select the whole fleet only on request', () => {
    expect(deviceFilter({})).toEqual({});
    expect(() => filterOf()).toThrow('or --all for the whole fleet.');
    expect(filterOf('--all')).toEqual({ all: true });
    expect(() => filterOf('--all', '--tag', 'a')).toThrow('--all selects the whole fleet.');
  });
});
