/**
 * Agents that people connected over OAuth: what they may do at each request, their list, and their
 * end. Knows no HTTP and no OAuth library.
 */
import type { Bus } from '@flotilla/bus';
import { principalRef } from '@flotilla/registry';
import type {
  AgentGrantRow,
  DeviceFilter,
  ListedGrant,
  OpenCheck,
  Principal,
  Registry,
  Scope,
  TokenHolder,
} from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { hasScope } from '../people/actor-of-principal.js';
import { roleScopes } from '../people/role-scopes.js';
import { actorName } from '../people/sign-ins.js';
import type { SignedInUser } from '../people/sign-ins.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { grantableScopes } from './agent-scopes.js';
import type { GrantLimits } from './grant-limits.js';

export interface AgentGrantsDeps {
  readonly registry: Pick<Registry, 'agentGrants' | 'deviceGroups' | 'users'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
  readonly limits: GrantLimits;
}

/** A person allows a client to act in their name. */
export interface GrantRequest {
  readonly clientId: string;
  readonly clientName: string;
  readonly clientHost: string;
  readonly scopes: readonly string[];
  /** Undefined: all devices. */
  readonly devices: DeviceFilter | undefined;
}

export type TokenVerdict =
  | { readonly kind: 'valid'; readonly principal: Principal }
  /** Unknown, expired, revoked, or of a person who cannot sign in. */
  | { readonly kind: 'unknown' }
  /** Issued for another address of this hub, or for something else. */
  | { readonly kind: 'foreign' }
  /** The person has fewer rights than the token. A new token gets those that are left. */
  | { readonly kind: 'narrowed' }
  /** The person has no scope of the grant. A new token would have none. */
  | { readonly kind: 'powerless' };

type GrantAnswer = { readonly grant: AgentGrantRow } | { readonly refusal: Refusal };

/** Characters of the name of a client, which the client chose. */
const NAME_CHARACTERS_MAX = 60;

export class AgentGrants {
  constructor(private readonly deps: AgentGrantsDeps) {}

  get limits(): GrantLimits {
    return this.deps.limits;
  }

  /** `check`: of an open request. It does not count as a use. */
  async whoIs(token: string, audience: string, check?: OpenCheck): Promise<TokenVerdict> {
    const holder = await this.deps.registry.agentGrants.authenticate(token, check);
    if (holder === undefined) return { kind: 'unknown' };
    if (holder.audience !== audience) return { kind: 'foreign' };
    if (grantableScopes(holder.granted, holder.user.role).length === 0) return { kind: 'powerless' };
    const person = { scopes: roleScopes[holder.user.role] };
    const isNarrowed = holder.scopes.length === 0 || !holder.scopes.every((scope) => hasScope(person, scope));
    return isNarrowed ? { kind: 'narrowed' } : { kind: 'valid', principal: principalOf(holder) };
  }

  /** The scopes of `asked` that the person could give now; undefined where they cannot sign in. */
  async scopesOf(userId: string, asked: readonly string[]): Promise<readonly Scope[] | undefined> {
    const user = await this.deps.registry.users.find(userId);
    return user === undefined || user.disabledAt !== undefined ? undefined : grantableScopes(asked, user.role);
  }

  /** Of those requested, only scopes count that the person has. */
  async allow({ user }: SignedInUser, request: GrantRequest, remoteAddress: string | undefined): Promise<GrantAnswer> {
    const { registry, clock, limits } = this.deps;
    const scopes = grantableScopes(request.scopes, user.role);
    if (scopes.length === 0)
      return { refusal: refuse('INVALID', ['scopes'], 'Choose at least one scope that you have.') };
    const { devices } = request;
    const refusal =
      devices === undefined
        ? undefined
        : (refuseFilter(devices, ['devices']) ?? (await refuseUnknownGroups(registry, devices, ['devices'])));
    if (refusal !== undefined) return { refusal };
    const at = clock.now();
    const { clientId, clientHost } = request;
    const grant = await registry.agentGrants.create(
      {
        userId: user.id,
        clientId,
        clientHost,
        scopes,
        devices,
        clientName: shownName(request.clientName, clientHost),
        expiresAt: at + limits.grantMs,
      },
      { grantsMax: limits.grantsMax, at, by: { actor: actorName(user), remoteAddress } },
    );
    if (grant === undefined)
      return { refusal: refuse('CONFLICT', [], 'Your account was disabled. Nothing was allowed.') };
    return { grant };
  }

  /** An administrator sees all, a person their own, and a key without ADMIN none. */
  list(viewer: Principal): Promise<readonly ListedGrant[]> {
    const { registry, clock } = this.deps;
    if (isAdmin(viewer)) return registry.agentGrants.living(clock.now());
    return viewer.kind === 'USER' ? registry.agentGrants.living(clock.now(), viewer.id) : Promise.resolve([]);
  }

  /** Open requests of the agent end at once, in all processes. */
  async revoke(id: string, viewer: Principal, actor: Actor): Promise<GrantAnswer> {
    const { registry, clock } = this.deps;
    const found = await registry.agentGrants.find(id);
    const mayEnd = isAdmin(viewer) || (viewer.kind === 'USER' && found?.userId === viewer.id);
    const ended = mayEnd ? await registry.agentGrants.revoke(id, { at: clock.now(), by: sourceOf(actor) }) : undefined;
    if (ended === undefined)
      return { refusal: refuse('NOT_FOUND', ['id'], `There is no connected agent "${id.slice(0, 100)}".`) };
    this.#publishEnd(id);
    return { grant: ended };
  }

  /** The client gave a token back, or a token was used twice. */
  async end(id: string, reason: 'client' | 'token reuse', remoteAddress: string | undefined): Promise<void> {
    const { registry, clock } = this.deps;
    const grant = await registry.agentGrants.find(id);
    if (grant === undefined) return;
    const by = { actor: `client ${grant.clientName}`, remoteAddress };
    await registry.agentGrants.revoke(id, { at: clock.now(), by }, reason);
    this.#publishEnd(id);
  }

  #publishEnd(id: string): void {
    this.deps.bus.feed.publish('access', { principal: principalRef({ kind: 'GRANT', id }) });
  }
}

/** The client chose its name: one line, short, and without characters that hide others. */
export function shownName(name: string, host: string): string {
  const shown = name
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX);
  return shown === '' ? host.slice(0, NAME_CHARACTERS_MAX) : shown;
}

function isAdmin(viewer: Principal): boolean {
  return viewer.devices === undefined && hasScope(viewer, 'ADMIN');
}

function principalOf({ grantId, clientName, scopes, devices, user }: TokenHolder): Principal {
  return {
    kind: 'GRANT',
    id: grantId,
    scopes,
    name: `${user.email ?? `user:${user.id}`} via ${clientName}`,
    owner: principalRef({ kind: 'USER', id: user.id }),
    ...(devices === undefined ? {} : { devices }),
  };
}
