/** What scripts decide by. Numbers here are promised: docs/command-line.md lists them. */
import { FlotillaError } from '@flotilla/client';

export const exitCodes = {
  done: 0,
  /** A usage error, or an unexpected error of the command line. */
  usage: 1,
  /** The hub did not accept it: bad input, no such device, a conflict. */
  refused: 2,
  /** Not every target succeeded. */
  targetsFailed: 3,
  /** No hub, no answer in time, or a hub that cannot work now. */
  unreachable: 4,
  /** No key, a wrong one, or one without the scope. */
  forbidden: 5,
  /** Ctrl-C, as shells have it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A usage error; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const unreachable: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'TIMEOUT',
  'UNAVAILABLE',
  'BAD_RESPONSE',
  'RATE_LIMITED',
]);
const forbidden: ReadonlySet<string> = new Set(['UNAUTHENTICATED', 'FORBIDDEN']);

export function exitCodeOf(error: unknown): ExitCode {
  if (!(error instanceof FlotillaError) || error.code === 'INTERNAL') return exitCodes.usage;
  if (unreachable.has(error.code)) return exitCodes.unreachable;
  return forbidden.has(error.code) ? exitCodes.forbidden : exitCodes.refused;
}
