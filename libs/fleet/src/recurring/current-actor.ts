/**
 * The rights of a caller now: of a key or a connected agent that was not revoked, or a person who
 * was not disabled.
 */
import { principalRef } from '@flotilla/registry';
import type { Principal, Registry } from '@flotilla/registry';
import { actorOfPrincipal, hasScope } from '../people/actor-of-principal.js';
import type { Actor } from '../actor.js';
import { actorName } from '../people/sign-ins.js';
import { roleScopes } from '../people/role-scopes.js';

export interface CallerLookUps {
  readonly apiKeys: Pick<Registry['apiKeys'], 'all'>;
  readonly users: Pick<Registry['users'], 'find'>;
  readonly agentGrants: Pick<Registry['agentGrants'], 'find'>;
}

type CurrentActor = { readonly actor: Actor } | { readonly missing: string };

/** `ref` as `principalRef` writes it. `missing` says which right is gone. */
export async function currentActor(registry: CallerLookUps, ref: string, now: number): Promise<CurrentActor> {
  const principal = await principalOf(registry, ref, now);
  if ('missing' in principal) return principal;
  const actor = actorOfPrincipal(principal);
  return hasScope(principal, 'JOBS_WRITE') ? { actor } : { missing: `${principal.name} may not create jobs any more.` };
}

async function principalOf(
  registry: CallerLookUps,
  ref: string,
  now: number,
): Promise<Principal | { readonly missing: string }> {
  const { agentGrants, apiKeys, users } = registry;
  const id = ref.slice(ref.indexOf(':') + 1);
  if (ref === principalRef({ kind: 'GRANT', id })) {
    const grant = await agentGrants.find(id);
    const client = grant === undefined ? '' : `"${grant.clientName}" `;
    if (grant === undefined || grant.revokedAt !== undefined || grant.expiresAt <= now)
      return { missing: `The agent ${client}that saved it is not connected any more.` };
    const owner = principalRef({ kind: 'USER', id: grant.userId });
    const person = await principalOf(registry, owner, now);
    if ('missing' in person) return person;
    const scopes = grant.scopes.filter((scope) => hasScope(person, scope));
    const name = `${person.name} via ${grant.clientName}`;
    return { kind: 'GRANT', id, name, scopes, devices: grant.devices, owner };
  }
  if (ref === principalRef({ kind: 'USER', id })) {
    const user = await users.find(id);
    if (user === undefined || user.disabledAt !== undefined)
      return { missing: `${user?.name ?? 'The person who saved it'} can no longer sign in.` };
    return { kind: 'USER', id, name: actorName(user), scopes: roleScopes[user.role] };
  }
  const key = (await apiKeys.all()).find((each) => each.id === id);
  if (key === undefined || key.revokedAt !== undefined || (key.expiresAt ?? Infinity) <= now)
    return { missing: `The key ${key === undefined ? '' : `"${key.name}" `}that saved it is not valid any more.` };
  const { devices, name, ownerId: owner, scopes } = key;
  return { kind: 'KEY', id, name, scopes, devices, owner };
}
