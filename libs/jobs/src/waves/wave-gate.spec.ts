import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyProgress } from '../job-progress.js';
import type { JobProgress } from '../job-types.js';
import type { Wave } from './wave.js';
import { judgeGate } from './wave-gate.js';

type Counts = Partial<Omit<JobProgress, 'total'>>;
const progressOf = (counts: Counts): JobProgress => ({
  ...emptyProgress,
  ...counts,
  total: Object.values(counts).reduce((sum, count) => sum + count, 0),
});
const canary: Wave = {
  number: 1,
  size: 10,
  gate: 'AUTO',
  successThreshold: 0.95,
  soakSeconds: 0,
  openedAt: 0,
  closedAt: undefined,
  approvedBy: undefined,
};
const moment = { now: 1_000, lastDecidedAt: 500, stragglerAfterMs: 600_000 };
const judge = (counts: Counts, wave: Partial<Wave> = {}, at: Partial<typeof moment> = {}) =>
  judgeGate({ ...canary, ...wave }, progressOf(counts), { ...moment, ...at });

describe('the gate of a wave', () => {
  it('opens when the wave is decided well enough', () => {
    expect(judge({ succeeded: 10 })).toEqual({ kind: 'open' });
    expect(judge({ succeeded: 19, failed: 1 })).toEqual({ kind: 'open' });
    expect(judge({ noChange: 9, skipped: 1 })).toEqual({ kind: 'open' });
  });

  it('waits for the whole canary, and for nine in ten of a later wave', () => {
    expect(judge({ succeeded: 9, inFlight: 1 })).toEqual({ kind: 'wait' });
    expect(judge({ succeeded: 9, inFlight: 1 }, { number: 2 })).toEqual({ kind: 'open' });
    expect(judge({ succeeded: 8, inFlight: 2 }, { number: 2 })).toEqual({ kind: 'wait' });
  });

  it('lets sleeping devices hold it up only so long', () => {
    expect(judge({ succeeded: 5, waitingDevice: 5 })).toEqual({ kind: 'wait', until: 600_000 });
    expect(judge({ succeeded: 5, waitingDevice: 5 }, {}, { now: 600_000 })).toEqual({ kind: 'open' });
    expect(judge({ waitingDevice: 10 }, {}, { now: 600_000 }), 'nothing to judge by').toEqual({ kind: 'wait' });
  });

  it('holds for an operator when too few succeeded and nothing is left that could change it', () => {
    expect(judge({ succeeded: 9, failed: 1 })).toEqual({ kind: 'hold', because: 'THRESHOLD' });
    expect(judge({ succeeded: 9, unknown: 1 })).toEqual({ kind: 'hold', because: 'THRESHOLD' });
    expect(judge({ succeeded: 18, failed: 1, inFlight: 1 }, { number: 2 })).toEqual({ kind: 'wait' });
  });

  it('soaks after the last decision', () => {
    expect(judge({ succeeded: 10 }, { soakSeconds: 60 })).toEqual({ kind: 'wait', until: 60_500 });
    expect(judge({ succeeded: 10 }, { soakSeconds: 60 }, { now: 60_500 })).toEqual({ kind: 'open' });
  });

  it('that is manual holds for an operator, once all is sent that can be', () => {
    expect(judge({ succeeded: 10 }, { gate: 'MANUAL' })).toEqual({ kind: 'hold', because: 'MANUAL' });
    expect(judge({ succeeded: 9, pending: 1 }, { gate: 'MANUAL', number: 2 })).toEqual({ kind: 'wait' });
  });

  it('is open once an operator opened it, with any outcomes of the wave', () => {
    expect(judge({ failed: 10 }, { approvedBy: 'operator' })).toEqual({ kind: 'open' });
  });

  it('never opens by itself below the threshold, and never holds while a target is under way', () => {
    const counts = fc.record({
      succeeded: fc.nat(20),
      failed: fc.nat(20),
      inFlight: fc.nat(3),
      waitingDevice: fc.nat(3),
      skipped: fc.nat(3),
    });
    fc.assert(
      fc.property(
        counts,
        fc.constantFrom<Wave['gate']>('AUTO', 'MANUAL'),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(1_200_000),
        (tally, gate, number, now) => {
          const step = judge(tally, { gate, number }, { now });
          if (step.kind === 'open') {
            expect(gate).toBe('AUTO');
            expect(tally.succeeded).toBeGreaterThanOrEqual(0.95 * (tally.succeeded + tally.failed));
          }
          if (step.kind === 'hold') expect(tally.inFlight).toBe(0);
        },
      ),
    );
  });
});
