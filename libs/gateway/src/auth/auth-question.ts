/** Checks credentials with a timeout: a connection must not wait for a database forever. */
import type { Clock } from '@flotilla/session';
import type { AuthVerdict } from './device-auth.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';

/** `undecided`: the check failed or took too long; the device should connect again later. */
export type AuthAnswer = AuthVerdict | { readonly kind: 'undecided' };

export interface AuthQuestion {
  readonly ask: () => AuthVerdict | Promise<AuthVerdict>;
  /** The device in question, for the log. */
  readonly subject: Readonly<Record<string, unknown>>;
}

export interface AuthQuestionContext {
  readonly clock: Clock;
  readonly limits: Pick<GatewayLimits, 'authTimeoutMs'>;
  readonly logger: Pick<GatewayLogger, 'error'>;
}

/** Calls `answer` exactly once, synchronously if the verdict is available at once. */
export function askAuth(
  { ask, subject }: AuthQuestion,
  context: AuthQuestionContext,
  answer: (answer: AuthAnswer) => void,
): void {
  const verdict = attempt(ask);
  if (!(verdict instanceof Promise)) {
    answer(verdict);
    return;
  }
  let isOpen = true;
  const close = (given: AuthAnswer) => {
    if (!isOpen) return;
    isOpen = false;
    cancelDeadline();
    answer(given);
  };
  const fail = (error: unknown) => {
    if (isOpen) context.logger.error({ error, ...subject }, 'credentials could not be checked');
    close({ kind: 'undecided' });
  };
  const { authTimeoutMs } = context.limits;
  const cancelDeadline = context.clock.setTimer(authTimeoutMs, () => fail(`no verdict within ${authTimeoutMs} ms`));
  verdict.then(close, fail);
}

/** Turns a thrown error into a rejection: the broker does not catch errors. */
function attempt(ask: AuthQuestion['ask']): ReturnType<AuthQuestion['ask']> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
