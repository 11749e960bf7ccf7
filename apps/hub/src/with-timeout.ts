/** Bounds a question to something that may be away, for those who ask on behalf of a monitor: it would rather hear "no" than nothing. */

/** How long a monitor's request waits for PostgreSQL or the queue, ms: below the usual time-out of a probe. */
const ANSWER_MS_MAX = 2_000;

/** The answer, or `otherwise` where it fails or does not come in time. */
export function withTimeout<Value>(answer: Promise<Value>, otherwise: Value, limitMs = ANSWER_MS_MAX): Promise<Value> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs, otherwise);
    answer
      .then(resolve, () => {
        resolve(otherwise);
      })
      .finally(() => {
        clearTimeout(timer);
      });
  });
}
