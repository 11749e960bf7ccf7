/**
 * Counts the tool runs of one device and keeps the last few calls, to prove that none ran twice.
 */
import type { ToolArguments } from './tool.js';

/** Calls kept per device: enough for a test, few enough for thousands of devices. */
const CALLS_KEPT_MAX = 16;

export interface LoggedCall {
  readonly tool: string;
  readonly args: ToolArguments;
  readonly at: number;
}

export class CallLog {
  readonly #counts = new Map<string, number>();
  readonly #last: LoggedCall[] = [];

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Oldest first. */
  get last(): readonly LoggedCall[] {
    return this.#last;
  }

  add(call: LoggedCall): void {
    this.#counts.set(call.tool, (this.#counts.get(call.tool) ?? 0) + 1);
    if (this.#last.push(call) > CALLS_KEPT_MAX) this.#last.shift();
  }
}
