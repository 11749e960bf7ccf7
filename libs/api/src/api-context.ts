/**
 * The context of one GraphQL operation: the caller, their view of the fleet, and the loaders that
 * batch its look-ups.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { principalRef, type AuditSource, type FleetView, type Principal, type Registry } from '@flotilla/registry';
import { actorOfPrincipal, hasScope, type Actor, type SignedInUser } from '@flotilla/fleet';
import { makeLoaders, type FleetWideLookUps, type Loaders } from './loaders.js';
import type { BudgetState } from './limits/cost-budget.js';
import { ApiError } from './errors/api-error.js';
import type { Caller } from './sign-in/callers.js';

/** The request of an operation. */
interface Origin {
  readonly remoteAddress?: string | undefined;
  /** The header `traceparent` of the request. */
  readonly trace?: string | undefined;
  /** Authenticates the caller again. Throws as the first time. */
  readonly callerNow?: () => Promise<Caller>;
}

export class ApiContext {
  readonly viewer: Principal;
  /** Where a person asks. */
  readonly session: SignedInUser | undefined;
  /** Where the request came from: the caller, or a proxy that the hub does not trust. */
  readonly remoteAddress: string | undefined;
  /**
   * Reads devices and everything that belongs to them, limited to the access scope of the caller.
   */
  readonly view: FleetView;
  /** The header `traceparent` of the request. */
  readonly trace: string | undefined;
  /** By `performance.now()`. */
  readonly startedAt = performance.now();
  /** Of the caller after this operation, over HTTP. */
  budget: BudgetState | undefined;
  readonly #registry: FleetWideLookUps;
  readonly #callerNow: Origin['callerNow'];
  #loaders: Loaders | undefined;
  #hasBegun = false;

  constructor(
    registry: FleetWideLookUps & Pick<Registry, 'viewFor'>,
    { viewer, session }: Caller,
    { remoteAddress, trace, callerNow }: Origin = {},
  ) {
    this.viewer = viewer;
    this.session = session;
    this.remoteAddress = remoteAddress;
    this.trace = trace;
    this.#registry = registry;
    this.#callerNow = callerNow;
    this.view = viewOf(registry, viewer);
  }

  /** Made when something is looked up: most acts look up nothing. */
  get loaders(): Loaders {
    return (this.#loaders ??= makeLoaders(this.view, this.#registry));
  }

  /**
   * Rejects where the caller has lost its key, its session or rights since the operation began.
   * Undefined for the first mutation of an operation: the caller was authenticated just now.
   */
  beforeMutation(): Promise<void> | undefined {
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    this.renewLoaders();
    return isFirst ? undefined : this.#refuseLostRights();
  }

  async #refuseLostRights(): Promise<void> {
    const now = await this.#callerNow?.();
    if (now === undefined) return;
    const { devices, scopes } = this.viewer;
    const hasSame = JSON.stringify(now.viewer.devices) === JSON.stringify(devices);
    if (!hasSame || !scopes.every((scope) => hasScope(now.viewer, scope)))
      throw new ApiError('FORBIDDEN', 'You have lost rights meanwhile. The rest of the operation did not run.');
  }

  /** Before each mutation and value of a subscription: old loaders would return old values. */
  renewLoaders(): void {
    this.#loaders = undefined;
  }
}

/** What a caller's tracing system adds to its requests: W3C Trace Context. */
export function traceOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}

export function viewOf(registry: Pick<Registry, 'viewFor'>, viewer: Principal): FleetView {
  return registry.viewFor({ id: principalRef(viewer), devices: viewer.devices });
}

export { hasScope } from '@flotilla/fleet';

/** The only check there is: devices do not check who calls their user-only tools. */
export function mayCallUserOnly(viewer: Pick<Principal, 'scopes'>): boolean {
  return hasScope(viewer, 'TOOLS_CALL_PRIVILEGED');
}

/** For changes that need no part of the fleet service. */
export function sourceOfRequest({ viewer, remoteAddress }: Pick<ApiContext, 'viewer' | 'remoteAddress'>): AuditSource {
  return { actor: viewer.name, remoteAddress };
}

export function actorOf({ viewer, remoteAddress }: Pick<ApiContext, 'viewer' | 'remoteAddress'>): Actor {
  return actorOfPrincipal(viewer, remoteAddress);
}
