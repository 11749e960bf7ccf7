/** `/health/ready` needs no key, so its question to PostgreSQL is asked once a second at most, with one in flight, however many ask. */

/** How long an answer counts, ms: less than any probe's interval. */
const ANSWER_COUNTS_MS = 1_000;

export function onceASecond<Value>(
  ask: () => Promise<Value>,
  now: () => number = () => performance.now(),
): () => Promise<Value> {
  let last: { readonly answer: Promise<Value>; settledAt: number } | undefined;
  return () => {
    if (last !== undefined && now() - last.settledAt < ANSWER_COUNTS_MS) return last.answer;
    // In flight it counts, however long it takes.
    const asked = { answer: ask(), settledAt: Infinity };
    const settled = (): void => void (asked.settledAt = now());
    asked.answer.then(settled, settled);
    last = asked;
    return asked.answer;
  };
}
