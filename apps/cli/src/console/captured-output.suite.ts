/** What a command prints while a spec runs it. */
import { vi } from 'vitest';

export interface Captured<Result> {
  readonly result: Result;
  readonly stdout: string;
  readonly stderr: string;
}

export async function captured<Result>(run: () => Result | Promise<Result>): Promise<Captured<Result>> {
  const texts = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text: string | Uint8Array, ...rest: unknown[]) => {
      texts[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      const done = rest.at(-1);
      if (typeof done === 'function') done();
      return true;
    }),
  );
  try {
    return { result: await run(), ...texts };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
