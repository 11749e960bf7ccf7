/** Exit codes for scripts. docs/command-line.md lists them; do not change a number. */
import { FlotillaError } from '@flotilla/client';

export const exitCodes = {
  done: 0,
  /** A usage error, or an unexpected error of the command line. */
  usage: 1,
  /** The hub rejected the request: bad input, unknown device, a conflict. */
  refused: 2,
  /** Not every device succeeded, or a job had no devices. */
  targetsFailed: 3,
  /** The hub is unreachable, does not answer in time, or cannot work now. */
  unreachable: 4,
  /** The key is missing or invalid, or does not have the scope. */
  forbidden: 5,
  /** Ctrl-C, with the number that shells use. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A usage error; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = exitCodes.usage,
  ) {
    super(message);
  }
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
  if (error instanceof UsageError) return error.exitCode;
  if (!(error instanceof FlotillaError) || error.code === 'INTERNAL') return exitCodes.usage;
  if (unreachable.has(error.code)) return exitCodes.unreachable;
  return forbidden.has(error.code) ? exitCodes.forbidden : exitCodes.refused;
}
