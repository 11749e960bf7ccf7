import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { retryWrite } from './retry-write.js';

const limits = { retryDelayMs: 250, retryDelayMsMax: 5_000 };

/** Lets the promises of an attempt settle. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function run(failures: number, isWanted: () => boolean = () => true) {
  const clock = new ManualClock(0);
  const logged: unknown[] = [];
  const attempts: number[] = [];
  const write = async () => {
    attempts.push(clock.now());
    if (attempts.length <= failures) throw new Error('refused');
    return 'written';
  };
  const logger = { ...silentLogger, warn: (details: object) => logged.push(Reflect.get(details, 'failures')) };
  const ended = retryWrite({ clock, limits, logger }, { about: { what: 'session start' }, write, isWanted });
  for (let step = 0; step < 400; step += 1) {
    await turn();
    clock.advance(250);
  }
  return { ended, attempts, logged };
}

describe('retryWrite', () => {
  it('repeats a write after pauses that double, up to the longest', async () => {
    const { ended, attempts } = await run(7);
    expect(await ended).toBe('written');
    expect(attempts).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 12_750, 17_750]);
  });

  it('logs a failure that lasts, but ever more rarely', async () => {
    const { ended, logged } = await run(17);
    expect(await ended).toBe('written');
    expect(logged).toEqual([1, 2, 4, 8, 16]);
  });

  it('gives up a write that is not wanted any more', async () => {
    const { ended, attempts } = await run(1, () => false);
    expect(await ended).toBeUndefined();
    expect(attempts).toEqual([0]);
  });
});
