import { expect, it } from 'vitest';
import { SharedRuns } from './shared-runs.js';

/** Work that ends when the spec says so. */
function stage() {
  const ends: (() => void)[] = [];
  const runs = new SharedRuns(() => new Promise<void>((resolve) => ends.push(resolve)));
  return { runs, ends };
}

it('makes one more run for all who come during one', async () => {
  const { runs, ends } = stage();
  const first = runs.run();
  const later = Array.from({ length: 1_000 }, () => runs.run());
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await Promise.all(later);
  expect(ends).toHaveLength(2);
});

it('makes a further run for who comes during the second', async () => {
  const { runs, ends } = stage();
  const [first, second] = [runs.run(), runs.run()];
  ends[0]?.();
  await first;
  await expect.poll(() => ends.length).toBe(2);
  const third = runs.run();
  ends[1]?.();
  await second;
  await expect.poll(() => ends.length).toBe(3);
  ends[2]?.();
  await third;
  await runs.ended();
});
