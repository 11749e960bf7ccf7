/** Counting round trips over a stretch of time, with the CPU that this process spent on them. */
import { setTimeout as pause } from 'node:timers/promises';

/** Round trips per second, and CPU of the measuring process for each, microseconds. */
export interface RoundTrips {
  readonly perSecond: number;
  readonly cpuMicrosecondsEach: number;
}

/** Lets the warm-up pass, then watches `count` grow. */
export async function measure(
  count: () => number,
  { seconds, warmupSeconds }: { readonly seconds: number; readonly warmupSeconds: number },
): Promise<RoundTrips> {
  await pause(warmupSeconds * 1_000);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const before = count();
  await pause(seconds * 1_000);
  const done = count() - before;
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = (performance.now() - startedAt) / 1_000;
  return { perSecond: done / elapsed, cpuMicrosecondsEach: (user + system) / Math.max(1, done) };
}
