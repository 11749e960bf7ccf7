import { describe, expect, it } from 'vitest';
import { Connection } from './connection';

describe('the connection of the console', () => {
  it('counts how often it came back, and not each sign of life', () => {
    const connection = new Connection();
    connection.stands();
    expect(connection.state()).toEqual({ isUp: true, healed: 0 });
    connection.lost();
    connection.lost();
    expect(connection.state()).toEqual({ isUp: false, healed: 0 });
    connection.stands();
    connection.stands();
    expect(connection.state()).toEqual({ isUp: true, healed: 1 });
  });

  it('counts subscriptions that came back, although it was never lost', () => {
    const connection = new Connection();
    connection.missed();
    expect(connection.state()).toEqual({ isUp: true, healed: 1 });
  });

  it('notifies its readers until they leave', () => {
    const connection = new Connection();
    const seen: boolean[] = [];
    const leave = connection.subscribe(() => seen.push(connection.state().isUp));
    connection.lost();
    connection.stands();
    leave();
    connection.lost();
    expect(seen).toEqual([false, true]);
  });
});
