import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../parts/events/event-types';
import { filterOf, parseEventSearch, presetNames, presetOf, presets, withTypes } from './event-search';

describe('the filter of the Events page', () => {
  it('leaves samples out unless they are asked for', () => {
    expect(filterOf({})).toEqual({ exceptTypes: ['device.samples'] });
    expect(filterOf({ types: ['device.*'] })).toEqual({ types: ['device.*'] });
    expect(filterOf(parseEventSearch({ except: [] }))).toEqual({});
    expect(filterOf({ deviceId: 'a', except: ['job.*'] })).toEqual({ deviceId: 'a', exceptTypes: ['job.*'] });
  });

  it.each(presetNames)('knows the preset %s again in an address', (name) => {
    const search = withTypes({ deviceId: 'a' }, presets[name]);
    expect(presetOf(parseEventSearch({ ...search }))).toBe(name);
    expect(search.deviceId).toBe('a');
  });

  it('has no name for another choice, and an empty address for the usual one', () => {
    expect(presetOf({ types: ['tools.changed'] })).toBeUndefined();
    expect(withTypes({ types: ['tools.changed'] }, presets.usual)).toEqual({});
  });

  it('shows as problems also what the hub stopped by itself, and alerts', () => {
    const { types } = filterOf(presets.problems);
    const stopped = ['job.stopped_by_health_gate', 'recurring_job.paused', 'desired_state.paused', 'webhook.paused'];
    expect(types).toEqual(expect.arrayContaining([...stopped, 'alert.fired', 'device.restarted_unexpectedly']));
  });

  it('names in its presets only types that there are', () => {
    const named = Object.values(presets).flatMap(({ types, except }): readonly string[] => [...types, ...except]);
    const unknown = named.filter(
      (type) =>
        !eventTypes.some((known) => known === type || (type.endsWith('.*') && known.startsWith(type.slice(0, -1)))),
    );
    expect(unknown).toEqual([]);
  });

  it('reads what an address may carry, and nothing else', () => {
    expect(parseEventSearch({ types: 'a.b', except: ['c', 3, ''], deviceId: 7 })).toEqual({
      types: ['a.b'],
      except: ['c'],
      deviceId: '7',
    });
  });
});
