/** Puts the question who is there, and brings one answer in time whatever becomes of it: a connection must not wait for a database for ever. */
import type { Clock } from '@flotilla/session';
import type { AuthVerdict } from './device-auth.js';
import type { GatewayLimits } from '../gateway-limits.js';
import type { GatewayLogger } from '../gateway-logger.js';

/** `undecided`: nobody could say, or not in time; the device is told to come back. */
export type AuthAnswer = AuthVerdict | { readonly kind: 'undecided' };

export interface AuthQuestion {
  readonly ask: () => AuthVerdict | Promise<AuthVerdict>;
  /** Who it is about, for the log. */
  readonly subject: Readonly<Record<string, unknown>>;
}

export interface AuthQuestionContext {
  readonly clock: Clock;
  readonly limits: Pick<GatewayLimits, 'authTimeoutMs'>;
  readonly logger: Pick<GatewayLogger, 'error'>;
}

/** Calls `answer` exactly once: at once where the verdict is there at once. */
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

/** What is thrown instead of rejected must not reach the broker, which has no net. */
function attempt(ask: AuthQuestion['ask']): ReturnType<AuthQuestion['ask']> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
