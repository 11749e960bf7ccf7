import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SocketPlaces, type Place } from './socket-places.js';

class TestSocket extends EventEmitter {
  isOpen = true;

  terminate(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

const limits = {
  socketsMax: 3,
  unauthenticatedSocketsMax: 6,
  unauthenticatedSocketsPerAddressMax: 4,
  unauthenticatedMsMax: 5_000,
};
const far = '198.51.100.7';

let places: SocketPlaces;

beforeEach(() => {
  vi.useFakeTimers();
  places = new SocketPlaces(limits);
});
afterEach(() => vi.useRealTimers());

interface Entered {
  readonly socket: TestSocket;
  readonly place: Place;
}

function enter(address: string): Entered {
  const socket = new TestSocket();
  return { socket, place: places.enter(socket, address) };
}

const enterMany = (count: number, address: string): readonly Entered[] =>
  Array.from({ length: count }, () => enter(address));
const openOf = (entered: readonly Entered[]): readonly boolean[] => entered.map(({ socket }) => socket.isOpen);

describe('sockets', () => {
  it('are destroyed after their time, and those that were admitted are not', () => {
    const [first, second] = enterMany(2, far);
    expect(first?.place.admit()).toBe(true);
    vi.advanceTimersByTime(4_999);
    expect([first?.socket.isOpen, second?.socket.isOpen, second?.place.isUnauthenticated()]).toEqual([
      true,
      true,
      true,
    ]);
    vi.advanceTimersByTime(1);
    expect([first?.socket.isOpen, second?.socket.isOpen, places.unauthenticatedCount]).toEqual([true, false, 0]);
  });

  it('beyond the share of their address cost that address its oldest', () => {
    const other = enter('203.0.113.9');
    const own = enterMany(5, far);
    expect(openOf(own)).toEqual([false, true, true, true, true]);
    expect(other.socket.isOpen).toBe(true);
  });

  it('of one /64 of IPv6 are of one address, and so are both spellings of one of IPv4', () => {
    const wide = [1, 2, 3, 4, 5].map((host) => enter(`2001:db8:0:1::${host}`));
    expect(openOf(wide)).toEqual([false, true, true, true, true]);
    const mapped = [enter(`::ffff:${far}`), ...enterMany(4, far)];
    expect(mapped[0]?.socket.isOpen).toBe(false);
  });

  it('evict the oldest of the address with most when all places are taken', () => {
    const many = enterMany(4, far);
    const few = [enter('203.0.113.1'), enter('203.0.113.2')];
    const late = [enter('203.0.113.3'), enter('203.0.113.4')];
    expect(openOf(many)).toEqual([false, false, true, true]);
    expect([...openOf(few), ...openOf(late), places.unauthenticatedCount]).toEqual([true, true, true, true, 6]);
  });

  it('give their places back when they leave', () => {
    const [first] = enterMany(4, far);
    first?.socket.terminate();
    const late = enter(far);
    expect([late.socket.isOpen, places.unauthenticatedCount]).toEqual([true, 4]);
  });
});

describe('those with a key', () => {
  it('have a pool that sockets cannot fill', () => {
    enterMany(20, far);
    const late = enter(far);
    expect([late.place.admit(), late.place.isUnauthenticated(), places.isFull]).toEqual([true, false, false]);
    enterMany(20, far);
    expect(late.socket.isOpen).toBe(true);
  });

  it('are bounded, and make room when they leave', () => {
    const admitted = enterMany(3, far);
    expect(admitted.map(({ place }) => place.admit())).toEqual([true, true, true]);
    expect([places.isFull, enter(far).place.admit()]).toEqual([true, false]);
    admitted[0]?.socket.terminate();
    expect([places.isFull, enter(far).place.admit()]).toEqual([false, true]);
  });

  it('are not admitted once they were expelled', () => {
    const [first] = enterMany(5, far);
    expect([first?.place.admit(), places.isFull]).toEqual([false, false]);
  });
});
