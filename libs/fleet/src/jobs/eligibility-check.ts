/** Which tool sets the call of a job may be sent to: judged once per tool set, not per device. */
import type { CallError, ToolSetHash } from '@flotilla/mcp';
import type { ToolSet, ToolSetStore, ToolSetEligibility } from '@flotilla/registry';
import type { CheckedCall, CallRules } from '../calls/call-rules.js';
import { anyImageUrl } from '../rollout/rollout-request.js';

export class EligibilityCheck {
  /** As bounded as the number of firmwares in the fleet. */
  readonly #known = new Map<ToolSetHash, ToolSetEligibility>();

  /** `ownUrl`: the address in the arguments that the hub replaces for each device. */
  constructor(
    private readonly toolSets: ToolSetStore,
    private readonly callRules: Pick<CallRules, 'refuse'>,
    private readonly call: CheckedCall,
    private readonly ownUrl?: string,
  ) {}

  async judge(hashes: readonly ToolSetHash[]): Promise<readonly ToolSetEligibility[]> {
    const toolSets = await this.toolSets.getMany(hashes.filter((hash) => !this.#known.has(hash)));
    return hashes.map((toolSetHash) => {
      const judged = this.#known.get(toolSetHash) ?? {
        toolSetHash,
        rejection: this.#refuse(toolSets.get(toolSetHash)),
      };
      this.#known.set(toolSetHash, judged);
      return judged;
    });
  }

  isJudged(hash: ToolSetHash): boolean {
    return this.#known.has(hash);
  }

  /**
   * Why a device with these tools, which were judged before, is refused; undefined if it is not.
   * Without a hash its tools are not known.
   */
  rejectionOf(hash: ToolSetHash | undefined): CallError | undefined {
    return hash === undefined ? this.#refuse(undefined) : this.#known.get(hash)?.rejection;
  }

  #refuse(toolSet: ToolSet | undefined): CallError | undefined {
    return this.callRules.refuse(toolSet, this.call, this.ownUrl)?.error;
  }
}

export interface EligibilityDeps {
  readonly callRules: Pick<CallRules, 'refuse'>;
  readonly registry: { readonly toolSets: ToolSetStore };
}

/** For a job that exists or is planned. In a roll-out the hub makes the arguments. */
export function eligibilityOfJob(
  { callRules, registry }: EligibilityDeps,
  { tool, arguments: args, mayCallUserOnly }: CheckedCall,
  isRollout: boolean,
): EligibilityCheck {
  const call = { tool, arguments: isRollout ? { url: anyImageUrl } : args, mayCallUserOnly };
  return new EligibilityCheck(registry.toolSets, callRules, call, isRollout ? anyImageUrl : undefined);
}
