/** `/health/ready` needs no key, so it asks PostgreSQL at most once per second, for all callers. */

/** Time that an answer is reused, ms: shorter than the interval of any probe. */
const ANSWER_COUNTS_MS = 1_000;

export function onceASecond<Value>(
  ask: () => Promise<Value>,
  now: () => number = () => performance.now(),
): () => Promise<Value> {
  let last: { readonly answer: Promise<Value>; settledAt: number } | undefined;
  return () => {
    if (last !== undefined && now() - last.settledAt < ANSWER_COUNTS_MS) return last.answer;
    // While in flight it is shared, however long it takes.
    const asked = { answer: ask(), settledAt: Infinity };
    const settled = (): void => void (asked.settledAt = now());
    asked.answer.then(settled, settled);
    last = asked;
    return asked.answer;
  };
}
