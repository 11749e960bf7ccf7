/** The rules for passwords, and the interface of the hash, which an adapter implements. */

const PASSWORD_CHARACTERS_MIN = 12;
/** A sentence fits; more would only cost hashing. */
export const PASSWORD_CHARACTERS_MAX = 200;

/** Slow hashes. Few run and wait at once; beyond that the answer is undefined immediately. */
export interface Passwords {
  /** In the PHC string format. */
  hash(password: string): Promise<string | undefined>;
  /** False, and as slowly, where there is no hash. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean | undefined>;
}

/** What is wrong with a new password. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < PASSWORD_CHARACTERS_MIN)
    return `A password has at least ${PASSWORD_CHARACTERS_MIN} characters.`;
  if (password.length > PASSWORD_CHARACTERS_MAX) return `A password has at most ${PASSWORD_CHARACTERS_MAX} characters.`;
  return new Set(password).size < 4 ? 'A password has at least four different characters.' : undefined;
}
