import DataLoader from 'dataloader';
import type { Scope } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import type { FleetOperations } from '../fleet-operations.js';
import type { Loaders } from '../loaders.js';

/**
 * The scopes that viewers lack to call tools in jobs. A list asks once for each of its tools, which
 * are few.
 */
export class MissingScopes {
  /** By the loaders of an operation, which a subscription renews for each value. */
  readonly #known = new WeakMap<Loaders, DataLoader<string, Scope | undefined>>();

  constructor(private readonly fleet: Pick<FleetOperations, 'scopeToCall'>) {}

  of(tool: string, context: ApiContext): Promise<Scope | undefined> {
    const known =
      this.#known.get(context.loaders) ??
      new DataLoader<string, Scope | undefined>((tools) =>
        Promise.all(tools.map((each) => this.fleet.scopeToCall(each, actorOf(context)))),
      );
    this.#known.set(context.loaders, known);
    return known.load(tool);
  }
}
