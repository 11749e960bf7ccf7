import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gatherChanges, gatherMs } from './gather-changes';

interface Row {
  readonly id: string;
  readonly value: number;
  readonly name?: string;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function table(start: readonly Row[]) {
  const states: (readonly Row[])[] = [start];
  const shown = () => states.at(-1) ?? [];
  const onMembership = vi.fn<() => void>();
  const gathered = gatherChanges<Row>({
    shown,
    patch: (change) => states.push(change(shown())),
    isMoved: (before, now) => before.name !== now.name,
    onMembership,
  });
  const change = (row: Row, matches = true) => gathered.add({ row, matches });
  return { states, change, stop: gathered.stop, onMembership };
}

describe('changes of a list', () => {
  it('are applied at once for a period, with the newest version of each row', () => {
    const { states, change, onMembership } = table([
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ]);
    change({ id: 'a', value: 2 });
    change({ id: 'b', value: 2 });
    change({ id: 'a', value: 3 });
    vi.advanceTimersByTime(gatherMs - 1);
    expect(states).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(states.slice(1)).toEqual([
      [
        { id: 'a', value: 3 },
        { id: 'b', value: 2 },
      ],
    ]);
    expect(onMembership).not.toHaveBeenCalled();
  });

  it('remove rows that match no longer', () => {
    const { states, change, onMembership } = table([
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ]);
    change({ id: 'a', value: 2 }, false);
    vi.advanceTimersByTime(gatherMs);
    expect(states[1]).toEqual([{ id: 'b', value: 1 }]);
    expect(onMembership).toHaveBeenCalledTimes(1);
  });

  it('ask once for another read when rows come, however many; the hub knows their places', () => {
    const { states, change, onMembership } = table([{ id: 'a', value: 1 }]);
    for (let other = 0; other < 1_000; other++) change({ id: `other ${other}`, value: 9 });
    vi.advanceTimersByTime(gatherMs);
    expect(states[1]).toBe(states[0]);
    expect(onMembership).toHaveBeenCalledTimes(1);
  });

  it('ask for another read when a row has another place', () => {
    const { change, onMembership } = table([{ id: 'a', value: 1, name: 'Shelf 2' }]);
    change({ id: 'a', value: 1, name: 'Shelf 10' });
    vi.advanceTimersByTime(gatherMs);
    expect(onMembership).toHaveBeenCalledTimes(1);
  });

  it('ask for nothing when a row that is not shown does not match', () => {
    const { states, change, onMembership } = table([{ id: 'a', value: 1 }]);
    change({ id: 'other', value: 9 }, false);
    vi.advanceTimersByTime(gatherMs);
    expect(states[1]).toBe(states[0]);
    expect(onMembership).not.toHaveBeenCalled();
  });

  it('are applied once, so that they do not replace a newer answer of the hub', () => {
    const { states, change } = table([
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ]);
    change({ id: 'a', value: 2 });
    vi.advanceTimersByTime(gatherMs);
    states.push([
      { id: 'a', value: 7 },
      { id: 'b', value: 1 },
    ]);
    change({ id: 'b', value: 2 });
    vi.advanceTimersByTime(gatherMs * 3);
    expect(states.map((rows) => rows.map(({ value }) => value))).toEqual([
      [1, 1],
      [2, 1],
      [7, 1],
      [7, 2],
    ]);
  });

  it('are not applied after the list is gone', () => {
    const { states, change, stop } = table([{ id: 'a', value: 1 }]);
    change({ id: 'a', value: 2 });
    stop();
    vi.advanceTimersByTime(gatherMs * 3);
    expect(states).toHaveLength(1);
  });
});
