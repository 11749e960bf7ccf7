/** The lasting behaviours of one device, and the question whether one of them strikes now. */
import { BEHAVIOURS_MAX, type LastingBehaviour } from './behaviour.js';

export type RequestMethod = 'initialize' | 'tools/list' | 'tools/call' | 'other';

/** What a request is about, as far as behaviours ask. */
export interface RequestSubject {
  readonly method: RequestMethod;
  readonly tool?: string;
}

/** The same for an upgrade. */
interface UpgradeSubject {
  readonly board: string;
  /** Of the image, once it is known. */
  readonly version?: string;
}

const LIMITS = ['method', 'tool', 'board', 'version'] as const;
type Limits = { readonly kind: string } & { readonly [Limit in (typeof LIMITS)[number]]?: string | undefined };

interface Active {
  readonly behaviour: LastingBehaviour;
  timesLeft: number;
}

export class BehaviourScript {
  #active: readonly Active[] = [];

  constructor(
    behaviours: readonly LastingBehaviour[],
    private readonly random: () => number,
  ) {
    for (const behaviour of behaviours) this.add(behaviour);
  }

  get isEmpty(): boolean {
    return this.#active.length === 0;
  }

  /** The newest behaviour is asked first; when there are too many, the oldest goes. */
  add(behaviour: LastingBehaviour): void {
    const timesLeft = ('times' in behaviour ? behaviour.times : undefined) ?? Infinity;
    this.#active = [{ behaviour, timesLeft }, ...this.#active].slice(0, BEHAVIOURS_MAX);
  }

  /** Ends every behaviour of this kind. */
  drop(kind: LastingBehaviour['kind']): void {
    this.#active = this.#active.filter(({ behaviour }) => behaviour.kind !== kind);
  }

  clear(): void {
    this.#active = [];
  }

  /**
   * Returns the active behaviour of this kind for this request, if any, and counts down its
   * `times`.
   */
  strike<Kind extends LastingBehaviour['kind']>(
    kind: Kind,
    subject?: RequestSubject | UpgradeSubject,
  ): Extract<LastingBehaviour, { kind: Kind }> | undefined {
    for (const active of this.#active) {
      const { behaviour } = active;
      if (!isKind(behaviour, kind) || !concerns(behaviour, subject) || !this.#isLucky(behaviour)) continue;
      active.timesLeft--;
      if (active.timesLeft === 0) this.#active = this.#active.filter((other) => other !== active);
      return behaviour;
    }
    return undefined;
  }

  #isLucky(behaviour: LastingBehaviour): boolean {
    const chance = 'chance' in behaviour ? behaviour.chance : undefined;
    return chance === undefined || this.random() < chance;
  }
}

function isKind<Kind extends LastingBehaviour['kind']>(
  behaviour: LastingBehaviour,
  kind: Kind,
): behaviour is Extract<LastingBehaviour, { kind: Kind }> {
  return behaviour.kind === kind;
}

/**
 * Whether all limits of the behaviour match. The version of `upgradeTo` is an outcome, not a limit.
 */
function concerns(behaviour: LastingBehaviour, subject: RequestSubject | UpgradeSubject | undefined): boolean {
  if (behaviour.kind === 'upgradeTo') return true;
  const limits: Limits = behaviour;
  const given: Limits = { kind: behaviour.kind, ...subject };
  return LIMITS.every((limit) => limits[limit] === undefined || limits[limit] === given[limit]);
}
