/** Pauses between attempts: doubling, with chance in them, never past a bound. */
import type { ClientLimits } from '../client-options.js';
import { FlotillaError } from '../flotilla-error.js';

type Pauses = Pick<ClientLimits, 'backOffMs' | 'backOffMsMax'>;

/** Ms before the attempt after `failures` failed ones. `chance` is from 0 up to 1. */
export function backOffOf(failures: number, { backOffMs, backOffMsMax }: Pauses, chance = Math.random()): number {
  const whole = Math.min(backOffMsMax, backOffMs * 2 ** Math.min(failures - 1, 30));
  return whole / 2 + (whole / 2) * chance;
}

/** Resolves after so many ms; rejects with ABORTED when the signal fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

export function aborted(signal: AbortSignal | undefined): FlotillaError {
  return new FlotillaError('ABORTED', 'The caller gave up.', { cause: signal?.reason });
}
