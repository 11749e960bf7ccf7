/**
 * Failed attempts to sign in, in PostgreSQL so that restarts and other processes know them.
 * The cost of a password check bounds the number of rows.
 */
import type { Database } from '../database/database.js';
import { hashOf } from '../secrets/secrets.js';

/** Locks the rows of the subjects in one order, and creates the missing ones. */
const LOCK = {
  text: `INSERT INTO sign_in_failure AS f (subject, failures, last_at)
         SELECT s.subject, 0, to_timestamp($2::float8 / 1000) FROM unnest($1::text[]) AS s(subject) ORDER BY s.subject
         ON CONFLICT (subject) DO UPDATE SET failures = f.failures
         RETURNING f.subject, f.failures, extract(epoch FROM f.last_at) * 1000 AS "lastAt"`,
};
const COUNT = {
  text: `UPDATE sign_in_failure SET last_at = to_timestamp($2::float8 / 1000),
           failures = CASE WHEN last_at < to_timestamp($3::float8 / 1000) THEN 1 ELSE failures + 1 END
         WHERE subject = ANY($1::text[])`,
};
/**
 * Takes back an attempt of the time $2, and its time where no later one came; $3 are the times
 * before it. Locks in the order of LOCK, because two orders would cause a deadlock.
 */
const SPARE = {
  text: `WITH held AS (SELECT subject FROM sign_in_failure WHERE subject = ANY($1::text[]) ORDER BY subject FOR UPDATE)
         UPDATE sign_in_failure f SET failures = greatest(f.failures - 1, 0),
           last_at = CASE f.last_at WHEN to_timestamp($2::float8 / 1000) THEN to_timestamp(s.former_at / 1000)
                                    ELSE f.last_at END
         FROM held JOIN unnest($1::text[], $3::float8[]) AS s(subject, former_at) USING (subject)
         WHERE f.subject = held.subject`,
};
const END = {
  text: `WITH held AS (SELECT subject FROM sign_in_failure WHERE subject = ANY($1::text[]) ORDER BY subject FOR UPDATE)
         DELETE FROM sign_in_failure f USING held WHERE f.subject = held.subject`,
};
/** Removes a few rows at a time: an attempt adds at most three. */
const FORGET = {
  text: `DELETE FROM sign_in_failure WHERE subject IN (
           SELECT subject FROM sign_in_failure WHERE last_at < to_timestamp($1::float8 / 1000)
           ORDER BY last_at LIMIT 10 FOR UPDATE SKIP LOCKED)`,
};

/** How often in a row something failed, and when last. */
export interface FailureRun {
  readonly failures: number;
  readonly lastAt: number;
}

/** An attempt that is counted as failed. */
export interface CountedAttempt {
  readonly at: number;
  /** When each subject failed before. */
  readonly formerAt: ReadonlyMap<string, number>;
}

export class SignInFailureStore {
  constructor(private readonly database: Database) {}

  /**
   * Counts an attempt as failed before it is made, so that simultaneous attempts see each other.
   * Where `lockedUntil` locks a subject, nothing is counted and the latest time is returned.
   */
  async begin(
    subjects: readonly string[],
    at: number,
    lockedUntil: (subject: string, run: FailureRun) => number | undefined,
    forgottenMs: number,
  ): Promise<CountedAttempt | { readonly lockedUntil: number }> {
    const byKey = new Map(subjects.map((subject) => [keyOf(subject), subject]));
    await this.database.query(FORGET, [at - forgottenMs]);
    return this.database.transaction(async (transaction) => {
      const keys = [...byKey.keys()];
      const rows = await transaction.query<{ subject: string; failures: number; lastAt: string }>(LOCK, [keys, at]);
      const locks = rows.flatMap(({ subject, failures, lastAt }) => {
        const run = { failures: Number(lastAt) < at - forgottenMs ? 0 : failures, lastAt: Number(lastAt) };
        return lockedUntil(byKey.get(subject) ?? subject, run) ?? [];
      });
      const latest = Math.max(...locks, 0);
      if (latest > at) return { lockedUntil: latest };
      await transaction.query(COUNT, [keys, at, at - forgottenMs]);
      const formerAt = rows.map(({ subject, lastAt }) => [byKey.get(subject) ?? subject, Number(lastAt)] as const);
      return { at, formerAt: new Map(formerAt) };
    });
  }

  /**
   * The attempt succeeded: the runs of `ended` are over, and those of `spared` are as before it.
   */
  async succeeded(
    { at, formerAt }: CountedAttempt,
    { ended, spared }: { readonly ended: readonly string[]; readonly spared: readonly string[] },
  ): Promise<void> {
    const formers = spared.map((subject) => formerAt.get(subject) ?? at);
    await this.database.query(SPARE, [spared.map(keyOf), at, formers]);
    await this.database.query(END, [ended.map(keyOf)]);
  }
}

/** `kind:hash`. Subjects are texts of strangers, of any length, so they are hashed. */
function keyOf(subject: string): string {
  const [kind = ''] = subject.split(':', 1);
  return `${kind}:${hashOf(subject)}`;
}
