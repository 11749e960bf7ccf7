/** The first Ctrl-C stops following; a second one ends the process. */

export async function untilInterrupted<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | 'interrupted'> {
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  for (const name of signals) process.once(name, stop);
  try {
    return await work(ending.signal);
  } catch (error) {
    if (ending.signal.aborted) return 'interrupted';
    throw error;
  } finally {
    for (const name of signals) process.removeListener(name, stop);
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const;
