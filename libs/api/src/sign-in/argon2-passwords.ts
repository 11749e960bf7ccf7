/** argon2id hashes of passwords. Hashing is made to be slow, so few run at once and few wait. */
import { hash, verify } from '@node-rs/argon2';
import { PASSWORD_CHARACTERS_MAX, type Passwords } from '@flotilla/fleet';

/** Parameters of OWASP for argon2id: 19 MiB, two passes, one lane. The variant is the default. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes at once: 38 MiB, and two of the four threads on which Node also reads files. */
const HASHES_MAX = 2;
/** Checks that wait, about a second of work. More are refused. */
const WAITING_MAX = 40;

export class Argon2Passwords implements Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /**
   * Checked without an account, so that an unknown e-mail address takes as long as a wrong
   * password.
   */
  readonly #decoy = hash('no account has this password', parameters);

  hash(password: string): Promise<string | undefined> {
    return this.#inTurn(() => hash(spelt(password), parameters));
  }

  verify(passwordHash: string | undefined, password: string): Promise<boolean | undefined> {
    return this.#inTurn(async () => {
      const known = passwordHash ?? (await this.#decoy);
      const isTooLong = password.length > PASSWORD_CHARACTERS_MAX;
      const isEqual = await verify(known, isTooLong ? '' : spelt(password));
      return isEqual && passwordHash !== undefined && !isTooLong;
    });
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#running >= HASHES_MAX) {
      if (this.#waiting.length >= WAITING_MAX) return undefined;
      // The previous check hands over its slot, so `#running` stays as it is.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

/** The same on every keyboard: accented letters have several spellings in Unicode. */
function spelt(password: string): string {
  return password.normalize('NFKC');
}
