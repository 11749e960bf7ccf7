/** Waits for an answer for a limited time. */

/** The default timeout, ms: below the usual timeout of a health probe. */
const ANSWER_MS_MAX = 2_000;

/** Resolves to the answer, or to `otherwise` when it fails or takes too long. */
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
