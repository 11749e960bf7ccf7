/** Runs one after the other; resolves to the median of their times, ms. `n` counts from 0. */
export async function medianOf(runs: number, run: (n: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const from = performance.now();
    await run(n);
    times.push(performance.now() - from);
  }
  return times.sort((one, other) => one - other)[Math.floor(runs / 2)] ?? NaN;
}
