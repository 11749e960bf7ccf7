/**
 * The signals that stop the process. SIGTERM drains it first. A second SIGTERM, Ctrl-C (SIGINT) and
 * the end of the terminal (SIGHUP) stop it at once. Each of them aborts a command.
 */
import type { EventEmitter } from 'node:events';

/** npm and shells forward a signal that the process also got itself, ms. */
const REPEATED_WITHIN_MS = 1_000;

interface StopSignals {
  /** The first signal. */
  readonly first: Promise<NodeJS.Signals>;
  /** The first signal that asks for a stop without a drain. */
  readonly atOnce: Promise<NodeJS.Signals>;
}

/** Listens from now on, so that no signal ends the process without its closers. */
export function listenForStop(
  source: Pick<EventEmitter, 'on'>,
  now: () => number = () => performance.now(),
): StopSignals {
  let resolveFirst: (signal: NodeJS.Signals) => void = () => undefined;
  let resolveAtOnce: (signal: NodeJS.Signals) => void = () => undefined;
  let drainsSince: number | undefined;
  const first = new Promise<NodeJS.Signals>((resolve) => (resolveFirst = resolve));
  const atOnce = new Promise<NodeJS.Signals>((resolve) => (resolveAtOnce = resolve));
  source.on('SIGTERM', () => {
    drainsSince ??= now();
    resolveFirst('SIGTERM');
    if (now() - drainsSince >= REPEATED_WITHIN_MS) resolveAtOnce('SIGTERM');
  });
  for (const name of ['SIGINT', 'SIGHUP'] as const)
    source.on(name, () => {
      resolveFirst(name);
      resolveAtOnce(name);
    });
  return { first, atOnce };
}

/** Aborts at the first signal. One at least a second later calls `end`, without waiting longer. */
export function abortOnStop(
  source: Pick<EventEmitter, 'on'>,
  end: () => void,
  now: () => number = () => performance.now(),
): AbortSignal {
  const controller = new AbortController();
  let abortedAt: number | undefined;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    source.on(name, () => {
      abortedAt ??= now();
      controller.abort(new Error(`Stopped by ${name}.`));
      if (now() - abortedAt >= REPEATED_WITHIN_MS) end();
    });
  return controller.signal;
}
