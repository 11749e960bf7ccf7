import { describe, expect, it } from 'vitest';
import { AudioPacer } from './audio-pacer.js';

/** The times at which `count` packets are sent that are all available at `from`. */
function schedule(pacer: AudioPacer, from: number, count: number): number[] {
  let now = from;
  return Array.from({ length: count }, () => {
    now = pacer.nextAt(now);
    pacer.sent(now);
    return now;
  });
}

describe('the pacer', () => {
  it('sends the first packets at once and the others as they are played', () => {
    const times = schedule(new AudioPacer({ frameMs: 60, leadFrames: 3 }), 1_000, 6);
    expect(times).toEqual([1_000, 1_000, 1_000, 1_000, 1_060, 1_120]);
  });

  it('starts again after a pause, and after an interruption', () => {
    const pacer = new AudioPacer({ frameMs: 60, leadFrames: 2 });
    schedule(pacer, 0, 10);
    expect(pacer.nextAt(10_000)).toBe(10_000);
    schedule(pacer, 10_000, 10);
    pacer.interrupted();
    expect(pacer.nextAt(10_010)).toBe(10_010);
  });

  it('waits no longer than before when the clock is set back', () => {
    const pacer = new AudioPacer({ frameMs: 60, leadFrames: 2 });
    schedule(pacer, 3_600_000, 10);
    expect(pacer.nextAt(0)).toBe(60);
  });
});
