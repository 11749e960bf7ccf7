/** Counting round trips over a stretch of time, with the CPU that this process spent on them. */
import { setTimeout as pause } from 'node:timers/promises';

/** Round trips per second, and CPU of the measuring process for each, microseconds. */
export interface RoundTrips {
  readonly perSecond: number;
  readonly cpuMicrosecondsEach: number;
  readonly count: number;
  readonly seconds: number;
}

/** Lets `warmupSeconds` pass, then watches `count` grow for `seconds`. `finish`, if given, belongs to the measured time (for example: until all is stored). */
export async function measure(
  count: () => number,
  { seconds, warmupSeconds }: { readonly seconds: number; readonly warmupSeconds: number },
  finish: () => Promise<void> = () => Promise.resolve(),
): Promise<RoundTrips> {
  await pause(warmupSeconds * 1_000);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const before = count();
  await pause(seconds * 1_000);
  const done = count() - before;
  await finish();
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - startedAt) / 1_000;
  return { perSecond: done / elapsed, cpuMicrosecondsEach: (user + system) / Math.max(1, done), count: done, seconds: elapsed };
}
