import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SequenceWindow } from './sequence-window.js';

describe('the window of sequence numbers', () => {
  it('accepts newer numbers once, and counts skipped ones', () => {
    const window = new SequenceWindow(100);
    expect([1, 2, 5, 4, 5, 6].map((sequence) => window.take(sequence))).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'replayed',
      'replayed',
      'accepted',
    ]);
    expect(window).toMatchObject({ last: 6, skipped: 2 });
  });

  it('is not moved out of reach by a forged number', () => {
    const window = new SequenceWindow(100);
    window.take(1);
    expect(window.take(0xffff_ffff)).toBe('too_far');
    expect(window.take(2)).toBe('accepted');
  });

  it('never accepts a number twice, nor goes back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300)), (sequences) => {
        const window = new SequenceWindow(50);
        const taken = sequences.filter((sequence) => window.take(sequence) === 'accepted');
        expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b));
        expect(taken.length + window.skipped).toBe(window.last);
      }),
    );
  });
});
