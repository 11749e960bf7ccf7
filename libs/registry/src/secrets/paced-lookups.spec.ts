import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PacedLookups } from './paced-lookups.js';

const valid = new Map([['a key', 'its owner']]);

let statements: (readonly string[])[];
let lookups: PacedLookups<string>;

beforeEach(() => {
  vi.useFakeTimers();
  statements = [];
  lookups = new PacedLookups(async (hashes) => {
    statements.push(hashes);
    return new Map(hashes.flatMap((hash) => (valid.has(hash) ? [[hash, valid.get(hash) ?? '']] : [])));
  });
});
afterEach(() => vi.useRealTimers());

/** One after the other without a pause, until each statement that finds nothing has to wait. */
async function exhaust(): Promise<void> {
  for (let index = 0; index < 50; index += 1) await lookups.ask(`guess ${index}`);
}

describe('unknown secrets', () => {
  it('that come together cost one statement', async () => {
    const first = lookups.ask('the first');
    const others = Array.from({ length: 500 }, (_, index) => lookups.ask(`guess ${index}`));
    const again = lookups.ask('guess 0');
    expect(await Promise.all([first, ...others, again])).toEqual(Array(502).fill(undefined));
    expect(statements.map(({ length }) => length)).toEqual([1, 500]);
  });

  it('cost at most twenty statements a second, however many are guessed', async () => {
    await exhaust();
    const answers: Promise<string | undefined>[] = [];
    for (let ms = 0; ms < 1_000; ms += 10) {
      answers.push(...Array.from({ length: 30 }, (_, index) => lookups.ask(`at ${ms}: ${index}`)));
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(50);
    expect(await Promise.all(answers)).toEqual(Array(3_000).fill(undefined));
    expect(statements.length - 50).toBeLessThanOrEqual(21);
  });

  it('keep a valid one among them waiting for one step at most', async () => {
    await exhaust();
    const [guessed, answer] = [lookups.ask('one more'), lookups.ask('a key')];
    await vi.advanceTimersByTimeAsync(49);
    expect(statements).toHaveLength(50);
    await vi.advanceTimersByTimeAsync(1);
    expect([await guessed, await answer]).toEqual([undefined, 'its owner']);
  });

  it('are refused where too many wait, and a failure is that of all that were asked together', async () => {
    await exhaust();
    const failing = new PacedLookups<string>(() => Promise.reject(new Error('away')));
    const both = [failing.ask('one'), failing.ask('other')];
    await expect(both[0]).rejects.toThrow('away');
    await expect(both[1]).rejects.toThrow('away');
    const waiting = Array.from({ length: 10_000 }, (_, index) => lookups.ask(`wait ${index}`));
    await expect(lookups.ask('one too many')).rejects.toMatchObject({ code: 'OVERLOADED' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(waiting)).toHaveLength(10_000);
  });
});
