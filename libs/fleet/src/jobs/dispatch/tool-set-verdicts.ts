/** Which tool sets a job's call may be sent to: judged once per set, not per device. */
import type { CallError, ToolSetHash } from '@flotilla/mcp';
import type { ToolSetStore, ToolSetVerdict } from '@flotilla/registry';
import { anyImageUrl } from '../../rollout/rollout-request.js';
import type { GatedCall, ToolGate } from '../../calls/tool-gate.js';

export class ToolSetVerdicts {
  readonly #toolSets: ToolSetStore;
  readonly #gate: Pick<ToolGate, 'refuse'>;
  readonly #call: GatedCall;
  readonly #ownUrl: string | undefined;
  /** As bounded as the number of firmwares in the fleet. */
  readonly #known = new Map<ToolSetHash, ToolSetVerdict>();

  /** `ownUrl`: an address in the arguments that stands for one that the hub makes for each device. */
  constructor(toolSets: ToolSetStore, gate: Pick<ToolGate, 'refuse'>, call: GatedCall, ownUrl?: string) {
    this.#toolSets = toolSets;
    this.#gate = gate;
    this.#call = call;
    this.#ownUrl = ownUrl;
  }

  async judge(hashes: readonly ToolSetHash[]): Promise<readonly ToolSetVerdict[]> {
    const toolSets = await this.#toolSets.getMany(hashes.filter((hash) => !this.#known.has(hash)));
    return hashes.map((toolSetHash) => {
      const verdict = this.#known.get(toolSetHash) ?? {
        toolSetHash,
        rejection: this.#gate.refuse(toolSets.get(toolSetHash), this.#call, this.#ownUrl)?.error,
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
    return this.#gate.refuse(undefined, this.#call, this.#ownUrl)?.error;
  }
}

/** Of a job as it is or as it would be. In a roll-out the arguments are the hub's. */
export function toolSetVerdicts(
  {
    gate,
    registry,
  }: { readonly gate: Pick<ToolGate, 'refuse'>; readonly registry: { readonly toolSets: ToolSetStore } },
  { tool, arguments: args, mayCallUserOnly }: GatedCall,
  isRollout: boolean,
): ToolSetVerdicts {
  if (!isRollout) return new ToolSetVerdicts(registry.toolSets, gate, { tool, arguments: args, mayCallUserOnly });
  return new ToolSetVerdicts(
    registry.toolSets,
    gate,
    { tool, arguments: { url: anyImageUrl }, mayCallUserOnly },
    anyImageUrl,
  );
}
