/**
 * The attempts of one browser to sign in by the identity provider, in one cookie: several tabs can
 * be on their way at once. Each attempt is `state.nonce.verifier`.
 */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Three of 131 characters fit into a cookie (`readCookie`). */
const ATTEMPTS_MAX = 3;

/** The value of the cookie with one more attempt; the oldest of too many is dropped. */
export function addAttempt(cookie: string | undefined, attempt: Attempt): string {
  return written([...attemptsIn(cookie), attempt].slice(-ATTEMPTS_MAX));
}

/** Takes out the attempt that a callback belongs to. `rest`: the value of the cookie without it. */
export function takeAttempt(
  cookie: string | undefined,
  state: string | null,
): { readonly attempt: Attempt | undefined; readonly rest: string } {
  const attempts = attemptsIn(cookie);
  const attempt = attempts.find((each) => each.state === state);
  return { attempt, rest: written(attempts.filter((each) => each !== attempt)) };
}

function attemptsIn(cookie = ''): readonly Attempt[] {
  return [...cookie.matchAll(/([\w-]+)\.([\w-]+)\.([\w-]+)(?:\.|$)/g)].map(
    ([, state = '', nonce = '', verifier = '']) => ({
      state,
      nonce,
      verifier,
    }),
  );
}

function written(attempts: readonly Attempt[]): string {
  return attempts.map(({ state, nonce, verifier }) => [state, nonce, verifier].join('.')).join('.');
}
