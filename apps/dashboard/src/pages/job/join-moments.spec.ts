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

  it('never falls: older counts that arrive later are left out', () => {
    const past = [moment(1, 0), moment(5, 30)];
    // An answer overtaken by a newer one, in a browser whose clock is ahead of the hub's.
    const line = joined(past, [moment(8, 40), moment(8.1, 12), moment(8.2, 39), moment(8.3, 41)]);
    expect(line.map(({ succeeded }) => succeeded)).toEqual([0, 30, 30, 40, 41]);
    // A late answer corrects an outcome, and decides nothing more.
    const corrected = { ...moment(9, 41), succeeded: 42, unknown: 0 };
    expect(joined([{ ...moment(8, 41), unknown: 1 }], [corrected])).toContainEqual(corrected);
  });

  it('goes on in a browser whose clock is behind the hub', () => {
    expect(joined([moment(10, 3)], [moment(8, 2), moment(9, 4)])).toEqual([moment(10, 3), moment(10, 4)]);
  });

  it('is thinned out where it grows long, and keeps its end', () => {
    const long = Array.from({ length: 601 }, (_, index) => moment(index / 2, index));
    const thin = joined(long.slice(0, 600), long.slice(600));
    expect(thin.length).toBeLessThan(310);
    expect(thin.at(-1)).toEqual(moment(300, 600));
  });
});
