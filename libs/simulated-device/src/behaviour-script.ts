/** The lasting behaviours of one device, and the question whether one of them strikes now. */
import { BEHAVIOURS_MAX, type LastingBehaviour } from './behaviour.js';

export type RequestMethod = 'initialize' | 'tools/list' | 'tools/call' | 'other';

/** What a request is about, as far as behaviours ask. */
export interface RequestSubject {
  readonly method: RequestMethod;
  readonly tool?: string;
}

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

  clear(): void {
    this.#active = [];
  }

  /** The behaviour of this kind that strikes this request, if any; asking uses one of its times up. */
  strike<Kind extends LastingBehaviour['kind']>(
    kind: Kind,
    subject?: RequestSubject,
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

function concerns(behaviour: LastingBehaviour, subject: RequestSubject | undefined): boolean {
  if ('tool' in behaviour && behaviour.tool !== undefined && behaviour.tool !== subject?.tool) return false;
  return !('method' in behaviour) || behaviour.method === undefined || behaviour.method === subject?.method;
}
