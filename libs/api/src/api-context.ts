/** What one GraphQL operation carries: who asks, and the loaders that gather its look-ups. */
import type { Principal, Registry, Scope } from '@flotilla/registry';
import type { Actor } from '@flotilla/fleet';
import { makeLoaders, type Loaders } from './loaders.js';

export class ApiContext {
  readonly viewer: Principal;
  loaders: Loaders;
  readonly #registry: Registry;

  constructor(registry: Registry, viewer: Principal) {
    this.viewer = viewer;
    this.#registry = registry;
    this.loaders = makeLoaders(registry);
  }

  /** For each value of a subscription: with the loaders of its beginning it would show what was true then. */
  renewLoaders(): void {
    this.loaders = makeLoaders(this.#registry);
  }
}

/** ADMIN is every scope. */
export function hasScope(viewer: Principal, scope: Scope): boolean {
  return viewer.scopes.includes(scope) || viewer.scopes.includes('ADMIN');
}

/** Devices do not check who calls their user-only tools, so this scope is the only check there is. */
export function mayCallUserOnly(viewer: Principal): boolean {
  return hasScope(viewer, 'TOOLS_CALL_PRIVILEGED');
}

export function actorOf(viewer: Principal): Actor {
  return { name: viewer.name, mayCallUserOnly: mayCallUserOnly(viewer) };
}
