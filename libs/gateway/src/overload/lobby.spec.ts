import { ManualClock } from '@flotilla/session';
import { expect, it } from 'vitest';
import { Lobby } from './lobby.js';

const enterMany = (lobby: Lobby, count: number, address = '192.0.2.1') =>
  Array.from({ length: count }, () => lobby.enter(address, () => undefined)).filter((leave) => leave !== undefined);

it('holds a bounded number, and gives each place back once', () => {
  const lobby = new Lobby(
    { unprovenConnectionsMax: 2, unprovenPerAddressMax: 2, connectionsPerSecondMax: 1_000 },
    new ManualClock(),
  );
  const [first] = enterMany(lobby, 3);
  expect(lobby.size).toBe(2);
  first?.();
  first?.();
  expect(lobby.size).toBe(1);
});

it('lets as many come at once as it holds, then so many a second, however soon they leave', () => {
  const clock = new ManualClock();
  const lobby = new Lobby({ unprovenConnectionsMax: 5, unprovenPerAddressMax: 5, connectionsPerSecondMax: 2 }, clock);
  const visit = () => {
    const entered = enterMany(lobby, 10);
    for (const leave of entered) leave();
    return entered.length;
  };
  expect(visit()).toBe(5);
  expect(visit()).toBe(0);
  clock.advance(1_000);
  expect(visit()).toBe(2);
  clock.advance(60_000);
  expect(visit()).toBe(5);
});

it('keeps places for others where one address brings many', () => {
  const clock = new ManualClock();
  const lobby = new Lobby(
    { unprovenConnectionsMax: 5, unprovenPerAddressMax: 3, connectionsPerSecondMax: 1_000 },
    clock,
  );
  const held = enterMany(lobby, 10);
  expect(held).toHaveLength(3);
  expect(enterMany(lobby, 10, '192.0.2.2')).toHaveLength(2);
  held[0]?.();
  clock.advance(1_000);
  expect(enterMany(lobby, 10, '192.0.2.2')).toHaveLength(1);
});

it('expels the oldest of an address with many connections for one of an address with few', () => {
  const clock = new ManualClock();
  const lobby = new Lobby(
    { unprovenConnectionsMax: 10, unprovenPerAddressMax: 6, connectionsPerSecondMax: 1_000 },
    clock,
  );
  const expelled: string[] = [];
  const enter = (count: number, address: string) =>
    Array.from({ length: count }, (_, index) => lobby.enter(address, () => expelled.push(`${address} ${index}`)));
  const leaveOldest = enter(6, '192.0.2.1')[0];
  clock.advance(1_000);
  expect(enter(5, '192.0.2.2').filter((leave) => leave !== undefined)).toHaveLength(5);
  expect([expelled, lobby.size]).toEqual([['192.0.2.1 0'], 10]);
  clock.advance(1_000);
  // Both have five now.
  expect(enter(1, '192.0.2.2')).toEqual([undefined]);
  expect(enter(2, '192.0.2.3').filter((leave) => leave !== undefined)).toHaveLength(2);
  expect([expelled.length, lobby.size]).toEqual([3, 10]);
  leaveOldest?.();
  expect(lobby.size).toBe(10);
});

it('expels no connection where two addresses would only change places', () => {
  const clock = new ManualClock();
  const lobby = new Lobby(
    { unprovenConnectionsMax: 10, unprovenPerAddressMax: 6, connectionsPerSecondMax: 1_000 },
    clock,
  );
  enterMany(lobby, 5, '192.0.2.1');
  enterMany(lobby, 4, '192.0.2.2');
  enterMany(lobby, 1, '192.0.2.3');
  clock.advance(1_000);
  expect(enterMany(lobby, 1, '192.0.2.2')).toEqual([]);
  expect(enterMany(lobby, 1, '192.0.2.3')).toHaveLength(1);
});
