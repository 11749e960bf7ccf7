/** Making and revoking API keys. The secret is in the answer once; the registry keeps its hash. */
import type { Bus } from '@flotilla/bus';
import { principalRef } from '@flotilla/registry';
import type { ApiKeyRow, NewApiKey, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { ownerOf, sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { refuseFilter } from '../device-filter-rules.js';
import { refuseUnknownGroups } from '../groups/device-groups.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

interface ApiKeyDeps {
  readonly registry: Pick<Registry, 'apiKeys' | 'deviceGroups'>;
  readonly bus: Pick<Bus, 'feed'>;
  readonly clock: Clock;
}

type CreatedApiKey = { readonly apiKey: ApiKeyRow; readonly secret: string } | { readonly refusal: Refusal };
type RevokedApiKey = { readonly apiKey: ApiKeyRow } | { readonly refusal: Refusal };

/** Keys of one hub that still work: one for each integration and person, many times over. */
const keysMax = 1_000;
/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;

export async function createApiKey(deps: ApiKeyDeps, key: NewApiKey, actor: Actor): Promise<CreatedApiKey> {
  const { registry, clock } = deps;
  const at = clock.now();
  const refusal =
    refuseKey(key, at) ?? (key.devices && (await refuseUnknownGroups(registry, key.devices, ['input', 'devices'])));
  if (refusal !== undefined) return { refusal };
  const answer = await registry.apiKeys.create(key, { keysMax, at, by: sourceOf(actor), ownerId: ownerOf(actor) });
  switch (answer.kind) {
    case 'created':
      return { apiKey: answer.key, secret: answer.secret };
    case 'FULL':
      return { refusal: refuse('LIMIT_EXCEEDED', [], `There are ${keysMax} keys; revoke one that is not needed.`) };
    case 'FILTER_INVALID':
      return { refusal: refuse('INVALID', ['input', 'devices'], 'The database cannot answer this filter.') };
  }
}

/** The key ends here at once, in other processes on notification. Repetition changes nothing. */
export async function revokeApiKey(
  { registry, bus, clock }: ApiKeyDeps,
  id: string,
  actor: Actor,
): Promise<RevokedApiKey> {
  const answer = await registry.apiKeys.revoke(id, { at: clock.now(), by: sourceOf(actor) });
  switch (answer.kind) {
    case 'revoked':
      bus.feed.publish('access', { principal: principalRef({ kind: 'KEY', id: answer.key.id }) });
      return { apiKey: answer.key };
    case 'NOT_FOUND':
      return { refusal: refuse('NOT_FOUND', ['id'], `There is no API key "${id.slice(0, 100)}".`) };
    case 'LAST_ADMIN':
      return {
        refusal: refuse(
          'CONFLICT',
          ['id'],
          'This is the only key with ADMIN that does not expire. Create another one first.',
        ),
      };
  }
}

function refuseKey({ name, scopes, devices, expiresAt }: NewApiKey, now: number): Refusal | undefined {
  if (name.trim() === '' || !namePattern.test(name))
    return refuse('INVALID', ['input', 'name'], 'The name of a key has 1 to 100 characters, all on one line.');
  if (scopes.length === 0) return refuse('INVALID', ['input', 'scopes'], 'A key needs at least one scope.');
  if (expiresAt !== undefined && expiresAt <= now)
    return refuse('INVALID', ['input', 'expiresAt'], 'The key would have expired already.');
  return devices === undefined ? undefined : refuseFilter(devices, ['input', 'devices']);
}
