/** Changes whose answer was lost: whether the hub made them is unknown. */
import { randomUUID } from 'node:crypto';
import { FlotillaError } from '@flotilla/client';
import { say } from './console/output.js';
import { messageOf } from './error-message.js';
import { exitCodes, UsageError } from './exit-codes.js';

/**
 * Sends what the hub does once per key. Prints the key if it may be done without an answer, with
 * the times by option: `2h` is another time in the next command, which the hub would refuse.
 */
export function sendOnce<Result>(
  given: string | undefined,
  send: (idempotencyKey: string) => Promise<Result>,
  times: Readonly<Record<string, string | null | undefined>> = {},
): Promise<Result> {
  const key = given ?? randomUUID();
  return send(key).catch((error: unknown) => {
    if (isAnswerLost(error)) say(`Whether the hub did it is unknown. ${repetition(key, times)}: it does it once.`);
    throw error;
  });
}

function repetition(key: string, times: Readonly<Record<string, string | null | undefined>>): string {
  const named = Object.entries(times).flatMap(([name, at]) => (typeof at === 'string' ? `--${name} ${at}` : []));
  const command = `Repeat the command with --idempotency-key ${key}`;
  return named.length === 0 ? command : `${command}, and with ${named.join(' ')} in place of the typed time`;
}

/** A call without a key, which must not be repeated before its device is looked at. */
export function sendUnkeyed<Result>(call: Promise<Result>): Promise<Result> {
  return call.catch((error: unknown) => {
    if (!isAnswerLost(error)) throw error;
    throw new UsageError(
      `${messageOf(error)}\nOutcome unknown: the device may have done it. Read its state back before you repeat it.`,
      exitCodes.targetsFailed,
    );
  });
}

/** Whether the hub may have done what it was asked, and the answer of it is missing. */
export function isAnswerLost(error: unknown): boolean {
  if (!(error instanceof FlotillaError)) return false;
  const { code, status } = error;
  if (code === 'UNREACHABLE') return !isNeverSent(error.cause);
  // The answer of a proxy that got none from the hub. With 4xx the request was refused.
  if (code === 'UNAVAILABLE') return status === 502 || status === 504;
  if (code === 'BAD_RESPONSE') return status === undefined || status < 400 || status >= 500;
  return code === 'TIMEOUT';
}

/** Failures before the request: no host, no connection, or no trust in its certificate. */
const beforeRequest =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_.*|UNABLE_TO_.*|.*CERT.*)$/;

/** Node's fetch has the reason in the cause of its error. */
function isNeverSent(failure: unknown): boolean {
  const cause = failure instanceof Error ? failure.cause : undefined;
  if (!(cause instanceof Error)) return false;
  // A host with several addresses: one error for each attempt.
  const attempts: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return attempts.every(isOfConnect) || ('code' in cause && beforeRequest.test(String(cause.code)));
}

function isOfConnect(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}
