/** Counts what tools of one device really began to run, and remembers the last few calls: the witness of "never ran twice". */
import type { ToolArguments } from './tool.js';

/** Calls remembered per device: a handful for a test to look at, little enough for thousands of devices. */
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
