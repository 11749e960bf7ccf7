/** Time as an argument. The hub passes the real one; tests turn a ManualClock by hand. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `wake` once, not before `delayMs` have passed. The returned function cancels it; cancelling late is harmless. */
  setTimer(delayMs: number, wake: () => void): () => void;
}
