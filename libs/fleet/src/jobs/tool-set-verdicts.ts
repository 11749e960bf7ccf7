/** Which tool sets a job's call may be sent to: judged once per set, not per device. */
import type { CallError, ToolSetHash } from '@flotilla/mcp';
import type { ToolSetStore, ToolSetVerdict } from '@flotilla/registry';
import type { GatedCall, ToolGate } from '../calls/tool-gate.js';

export class ToolSetVerdicts {
  readonly #toolSets: ToolSetStore;
  readonly #gate: ToolGate;
  readonly #call: GatedCall;
  /** As bounded as the number of firmwares in the fleet. */
  readonly #known = new Map<ToolSetHash, ToolSetVerdict>();

  constructor(toolSets: ToolSetStore, gate: ToolGate, call: GatedCall) {
    this.#toolSets = toolSets;
    this.#gate = gate;
    this.#call = call;
  }

  async judge(hashes: readonly ToolSetHash[]): Promise<readonly ToolSetVerdict[]> {
    const toolSets = await this.#toolSets.getMany(hashes.filter((hash) => !this.#known.has(hash)));
    return hashes.map((toolSetHash) => {
      const verdict = this.#known.get(toolSetHash) ?? {
        toolSetHash,
        rejection: this.#gate.refuse(toolSets.get(toolSetHash), this.#call)?.error,
      };
      this.#known.set(toolSetHash, verdict);
      return verdict;
    });
  }

  /** Undefined where this set has not been judged yet. */
  known(hash: ToolSetHash): ToolSetVerdict | undefined {
    return this.#known.get(hash);
  }

  /** The verdict on a device whose tools nobody knows. */
  get withoutTools(): CallError | undefined {
    return this.#gate.refuse(undefined, this.#call)?.error;
  }
}
