/** Reads a value that the hub can do without. */
import { withTimeout } from '@flotilla/session';
import { systemClock } from './system-clock.js';

/** The default timeout, ms: below the usual timeout of a health probe. */
const ANSWER_MS_MAX = 2_000;

/** Resolves to the answer, or to `otherwise` when it fails or takes too long. */
export function answerOr<Value>(answer: Promise<Value>, otherwise: Value, timeoutMs = ANSWER_MS_MAX): Promise<Value> {
  const fallback = () => otherwise;
  return withTimeout(answer, timeoutMs, systemClock, fallback).catch(fallback);
}
