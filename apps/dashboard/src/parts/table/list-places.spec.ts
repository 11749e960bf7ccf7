import { describe, expect, it } from 'vitest';
import { ListPlaces } from './list-places';

describe('the places in lists', () => {
  it('belong to an entry of the history and a table', () => {
    const places = new ListPlaces();
    places.keep('first', 'Devices', 880);
    expect(places.of('first', 'Devices')).toBe(880);
    expect(places.of('second', 'Devices')).toBeUndefined();
    expect(places.of('first', 'Jobs')).toBeUndefined();
  });

  it('are forgotten at the top, and the oldest when there are too many', () => {
    const places = new ListPlaces();
    for (let entry = 0; entry <= 100; entry++) places.keep(`entry ${entry}`, 'Devices', 44);
    expect(places.of('entry 0', 'Devices')).toBeUndefined();
    expect(places.of('entry 1', 'Devices')).toBe(44);
    places.keep('entry 1', 'Devices', 0);
    expect(places.of('entry 1', 'Devices')).toBeUndefined();
  });
});
