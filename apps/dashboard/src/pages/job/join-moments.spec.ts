import { describe, expect, it } from 'vitest';
import { decidedCounts, joined, type Moment } from './join-moments';

const none = Object.fromEntries(decidedCounts.map((name) => [name, 0])) as Omit<Moment, 'at'>;
const moment = (second: number, succeeded: number): Moment => ({
  ...none,
  succeeded,
  at: new Date(second * 1_000).toISOString(),
});

describe('the line of a job', () => {
  it('goes on where the past ends, and leaves out what says nothing new', () => {
    const past = [moment(1, 0), moment(5, 3)];
    expect(joined(past, [moment(4, 2), moment(6, 3), moment(7, 4), moment(8, 4)])).toEqual([
      ...past,
      moment(6.5, 3),
      moment(7, 4),
    ]);
    expect(joined(past, [])).toBe(past);
  });

  it('is thinned out where it grows long, and keeps its end', () => {
    const long = Array.from({ length: 601 }, (_, index) => moment(index / 2, index));
    const thin = joined(long.slice(0, 600), long.slice(600));
    expect(thin.length).toBeLessThan(310);
    expect(thin.at(-1)).toEqual(moment(300, 600));
  });
});
