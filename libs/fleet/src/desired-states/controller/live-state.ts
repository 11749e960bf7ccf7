/** A desired state of this process, with what it knows besides the row. */
import type { ComplianceState, Wanted } from '@flotilla/desired-state';
import { emptyBucket } from '@flotilla/jobs';
import type { PaceBucket } from '@flotilla/jobs';
import type { DeviceId, JobId } from '@flotilla/mcp';
import { propertyOf } from '@flotilla/registry';
import type { DesiredStateRow, DesiredTargetRow, OwnedDesiredState, StoredGeneration } from '@flotilla/registry';
import type { Actor } from '../../actor.js';
import { EligibilityCheck } from '../../jobs/eligibility-check.js';
import type { EligibilityDeps } from '../../jobs/eligibility-check.js';

/** One generation: what is wanted of the devices that have it. */
export interface LiveGeneration {
  readonly wanted: Wanted;
  readonly property: string;
  readonly stored: StoredGeneration;
  /** Which tool sets may receive the set, and the read. */
  readonly sets: EligibilityCheck;
  readonly reads: EligibilityCheck;
}

/** A set that waits for its turn. */
export interface PendingSet {
  readonly generation: LiveGeneration;
  readonly row: DesiredTargetRow;
  /** Not before this time, ms since the Unix epoch. */
  readonly notBefore: number;
}

export class LiveState {
  readonly generations = new Map<number, LiveGeneration>();
  readonly pendingSets = new Map<DeviceId, PendingSet>();
  counts = new Map<ComplianceState, number>();
  /** Devices that are in sync with the newest generation. */
  inSyncNow = 0;
  /** Whether each device was compared with the newest generation once. */
  isCompared = false;
  /** A job that has ended before all devices, and does not go on. */
  heldJobId: JobId | undefined;
  inFlight = 0;
  bucket: PaceBucket;

  constructor(
    public owned: OwnedDesiredState,
    readonly actor: Actor,
    now: number,
  ) {
    this.bucket = emptyBucket(now);
  }

  get row(): DesiredStateRow {
    return this.owned.state;
  }

  /** The job that still decides which devices have the newest generation. */
  get rolloutJobId(): JobId | undefined {
    const { generation, settledGeneration, rolloutJobId } = this.row;
    return settledGeneration < generation ? (rolloutJobId as JobId | undefined) : undefined;
  }

  /** The generation that a device has, if this is the newest that a roll-out has brought to it. */
  generationOf(entry: DesiredTargetRow | undefined, reached: number): number {
    const { generation, settledGeneration } = this.row;
    const isValid = entry !== undefined && entry.observedGeneration > 0 && entry.observedGeneration <= generation;
    return Math.max(isValid ? entry.observedGeneration : settledGeneration, reached);
  }

  /** Counts a change of an entry. Undefined: no entry. */
  move(from: DesiredTargetRow | undefined, to: DesiredTargetRow | undefined): void {
    this.#count(from, -1);
    this.#count(to, 1);
  }

  #count(row: DesiredTargetRow | undefined, by: 1 | -1): void {
    if (row === undefined) return;
    this.counts.set(row.state, (this.counts.get(row.state) ?? 0) + by);
    if (row.state === 'IN_SYNC' && row.observedGeneration === this.row.generation) this.inSyncNow += by;
  }
}

export function liveGeneration(
  deps: EligibilityDeps,
  { id }: DesiredStateRow,
  generation: number,
  stored: StoredGeneration,
  { mayCallUserOnly }: Pick<Actor, 'mayCallUserOnly'>,
): LiveGeneration {
  const { plan, readback } = stored;
  const { toolSets } = deps.registry;
  return {
    wanted: {
      id,
      generation,
      desired: plan.arguments[readback.argument],
      tolerance: readback.tolerance ?? 0,
      mode: plan.mode,
      onDrift: plan.onDrift,
      holdSeconds: plan.holdSeconds,
      priority: plan.priority,
      window: plan.window,
    },
    property: propertyOf(readback),
    stored,
    sets: new EligibilityCheck(toolSets, deps.callRules, {
      tool: plan.tool,
      arguments: plan.arguments,
      mayCallUserOnly,
    }),
    reads: new EligibilityCheck(toolSets, deps.callRules, {
      tool: readback.tool,
      arguments: {},
      mayCallUserOnly,
    }),
  };
}
