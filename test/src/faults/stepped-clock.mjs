/**
 * Loaded by `node --import` into a process of a story: steps its wall clock, as an operator or NTP
 * does. After SIGUSR2, `Date` is ahead by the ms in the file FLOTILLA_TEST_CLOCK. Monotonic time,
 * which timers and `performance.now` use, does not step, as in a real step.
 */
import { readFileSync } from 'node:fs';

const RealDate = globalThis.Date;
const file = process.env.FLOTILLA_TEST_CLOCK ?? '';
let aheadMs = 0;

globalThis.Date = class Date extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + aheadMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + aheadMs;
  }
};

process.on('SIGUSR2', () => {
  aheadMs = Number(readFileSync(file, 'utf8'));
});
