/** Checks credentials with a timeout: a connection must not wait for a database forever. */
import { withTimeout } from '@flotilla/session';
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

interface AuthQuestionContext {
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
  withTimeout(verdict, context.limits.authTimeoutMs, context.clock).then(answer, (error: unknown) => {
    context.logger.error({ error, ...subject }, 'credentials could not be checked');
    answer({ kind: 'undecided' });
  });
}

/** Turns a thrown error into a rejection: the broker does not catch errors. */
function attempt(ask: AuthQuestion['ask']): ReturnType<AuthQuestion['ask']> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
