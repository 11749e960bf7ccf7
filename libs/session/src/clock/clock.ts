/** Time as an argument. The hub passes the real clock, tests a ManualClock. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `wake` once, after at least `delayMs`. The returned function cancels it. */
  setTimer(delayMs: number, wake: () => void): () => void;
}
