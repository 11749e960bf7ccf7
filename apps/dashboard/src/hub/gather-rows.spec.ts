import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gatherMs, gatherRows } from './gather-rows';

interface Row {
  readonly id: string;
  readonly value: number;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function table(start: readonly Row[]) {
  const states: (readonly Row[])[] = [start];
  const gathered = gatherRows<Row>((change) => states.push(change(states.at(-1) ?? [])));
  return { states, gathered };
}

describe('live rows', () => {
  it('applies all changes of a period at once, with the newest version of each row', () => {
    const { states, gathered } = table([
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ]);
    gathered.add({ id: 'a', value: 2 });
    gathered.add({ id: 'b', value: 2 });
    gathered.add({ id: 'a', value: 3 });
    vi.advanceTimersByTime(gatherMs - 1);
    expect(states).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(states.slice(1)).toEqual([
      [
        { id: 'a', value: 3 },
        { id: 'b', value: 2 },
      ],
    ]);
  });

  it('does not add rows that are not shown, and then keeps the same list', () => {
    const { states, gathered } = table([{ id: 'a', value: 1 }]);
    gathered.add({ id: 'other', value: 9 });
    vi.advanceTimersByTime(gatherMs);
    expect(states[1]).toBe(states[0]);
  });

  it('applies a change once, so that it does not replace a newer answer of the hub', () => {
    const { states, gathered } = table([
      { id: 'a', value: 1 },
      { id: 'b', value: 1 },
    ]);
    gathered.add({ id: 'a', value: 2 });
    vi.advanceTimersByTime(gatherMs);
    states.push([
      { id: 'a', value: 7 },
      { id: 'b', value: 1 },
    ]);
    gathered.add({ id: 'b', value: 2 });
    vi.advanceTimersByTime(gatherMs * 3);
    expect(states.map((rows) => rows.map(({ value }) => value))).toEqual([
      [1, 1],
      [2, 1],
      [7, 1],
      [7, 2],
    ]);
  });

  it('applies nothing after the list is gone', () => {
    const { states, gathered } = table([{ id: 'a', value: 1 }]);
    gathered.add({ id: 'a', value: 2 });
    gathered.stop();
    vi.advanceTimersByTime(gatherMs * 3);
    expect(states).toHaveLength(1);
  });
});
